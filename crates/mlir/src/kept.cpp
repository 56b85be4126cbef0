// What MLIR's C API doesn't offer: dialects that keep what they don't know, and the properties of
// ops that aren't registered.

#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace shard {

constexpr char stablehlo[] = "stablehlo";
constexpr char chlo[] = "chlo";
constexpr char mhlo[] = "mhlo";
constexpr char sdy[] = "sdy";

// A dialect in which any op, type and attribute may occur; the latter two are their text. MLIR
// looks for symbols beyond an op with one region only if the op's dialect is loaded: of a dialect
// that it doesn't know, the op might be a symbol table. So `func.call` inside
// `sdy.manual_computation` verifies only where there is a dialect `sdy`.
template <const char *dialectName>
class Kept : public mlir::Dialect {
public:
  explicit Kept(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<Kept>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }

  static llvm::StringRef getDialectNamespace() { return dialectName; }

  mlir::Type parseType(mlir::DialectAsmParser &parser) const override {
    auto dialect = mlir::StringAttr::get(getContext(), dialectName);
    return mlir::OpaqueType::get(dialect, parser.getFullSymbolSpec());
  }

  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override {
    auto dialect = mlir::StringAttr::get(getContext(), dialectName);
    if (!type)
      type = mlir::NoneType::get(getContext());
    return mlir::OpaqueAttr::get(dialect, parser.getFullSymbolSpec(), type);
  }
};

// Loads a dialect unless the context has one of that name, such as StableHLO itself.
template <const char *dialectName>
void load(mlir::MLIRContext *context) {
  if (!context->getOrLoadDialect(dialectName))
    context->getOrLoadDialect<Kept<dialectName>>();
}

} // namespace shard

extern "C" {

void shardLoadKeptDialects(MlirContext raw) {
  mlir::MLIRContext *context = unwrap(raw);
  shard::load<shard::stablehlo>(context);
  shard::load<shard::chlo>(context);
  shard::load<shard::mhlo>(context);
  shard::load<shard::sdy>(context);
}

MlirAttribute shardGetProperties(MlirOperation op) {
  return wrap(unwrap(op)->getPropertiesAsAttribute());
}

bool shardSetProperties(MlirOperation op, MlirAttribute properties) {
  mlir::Operation *target = unwrap(op);
  auto error = [target] { return target->emitError("wrong properties: "); };
  return mlir::succeeded(target->setPropertiesFromAttribute(unwrap(properties), error));
}

} // extern "C"
