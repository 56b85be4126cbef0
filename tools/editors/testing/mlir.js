// Finds in MLIR text, by its own means, what the grammar has to give a scope to.
"use strict";

// Strings and comments of a text, and the text with both blanked out, at the same length.
function mask(text) {
  const spans = []; // {kind, start, end}
  const blank = text.split("");
  const cover = (kind, start, end) => {
    spans.push({ kind, start, end });
    for (let i = start; i < end; i++) if (blank[i] !== "\n") blank[i] = kind === "string" ? '"' : " ";
  };
  for (let i = 0; i < text.length; ) {
    let end = i + 1;
    if (text[i] === '"') {
      while (end < text.length && text[end] !== '"' && text[end] !== "\n")
        end += text[end] === "\\" ? 2 : 1;
      cover("string", i, ++end);
    } else if (text.startsWith("//", i)) {
      end = text.indexOf("\n", i);
      if (end < 0) end = text.length;
      cover("comment", i, end);
    }
    i = end;
  }
  return { spans, masked: blank.join("") };
}

const VALUE = "%[\\w$.-]+";
const RESULTS = `${VALUE}(?::\\d+)?(?:\\s*,\\s*${VALUE}(?::\\d+)?)*\\s*=\\s*`;

// [{kind, start, end}], and `statements`: where ops begin that begin a line.
function find(text) {
  const { spans, masked } = mask(text);
  const found = [];
  const statements = [];
  const add = (kind, start, length) => found.push({ kind, start, end: start + length });
  // Each match of the expression adds one of its groups, or all of it.
  const each = (kind, expression, group = 0) => {
    for (const match of masked.matchAll(expression)) add(kind, match.indices[group][0], match[group].length);
  };

  for (const { kind, start, end } of spans) {
    const before = masked.slice(0, start).trimEnd().slice(-1);
    const generic = /^\s*\(/.test(masked.slice(end, end + 99)) && !"([,".includes(before || " ");
    if (kind === "string" && generic && before !== "@") {
      add("operation", start + 1, end - start - 2);
      add("not a string", start, end - start);
    } else if (kind === "string" && before === "@" && masked[start - 1] === "@") {
      add("symbol", start - 1, end - start + 1);
      add("not a string", start, end - start);
    } else {
      add(kind, start, end - start);
    }
  }

  // What stands after the results of an op is its name; so is a name with dots at a line's start,
  // but for the attributes of a dictionary that goes over lines.
  each("operation", new RegExp(`(?:^|[{}])[ \\t]*${RESULTS}([A-Za-z_][\\w$.]*)`, "dgm"), 1);
  each("operation", /^[ \t]*([A-Za-z_][\w$]*(?:\.[\w$]+)+)(?![\w$.]|\s*[=,}])/dgm, 1);
  each("operation", /^[ \t]*(module|call|return)\b(?!\s*[=:])/dgm, 1);
  each("operation", /\bapplies ([\w.]+)/dg, 1);
  for (const match of masked.matchAll(new RegExp(`^[ \\t]*(?:${RESULTS}|\\w+\\.\\w+ [%@(])`, "gm")))
    statements.push(match.index);

  each("value", new RegExp(VALUE, "dg"));
  each("symbol", /@[A-Za-z_][\w$.-]*/dg);
  each("block label", /\^[\w$.-]+/dg);
  each("type", /(?<![\w$.])(?:tensor|vector|memref|complex|tuple)(?=<)/dg);
  each("type", /(?<=[<x])(?:[su]?i\d+|bf16|f\d+(?:E\d\w+)?)(?=[>,])/dg);
  each("type", /(?<=: |->\s|\()(?:[su]?i\d+|bf16|f\d+|index)(?=[\s>,)}])/dg);
  each("dialect type", /!\w+\.[\w.]+/dg);
  each("alias", /#loc\d*/dg);
  each("dialect attribute", /#\w+\.[\w.]+/dg);
  each("attribute name", /(?<![\w$.%#!@"-])([A-Za-z_][\w$.]*)(?=\s*=(?!=))/dg);
  each("number", /(?<![\w$.%#@^!+-]|\w-)\d+(?:\.\d*(?:[eE][-+]?\d+)?)?(?![\w.])/dg);
  return { found, statements, spans, masked };
}

const SCOPES = {
  operation: /^support\.function\.op\./,
  value: /^variable\./,
  symbol: /^entity\.name\.function\.symbol\./,
  "block label": /^entity\.name\.label\./,
  type: /^storage\.type\./,
  "dialect type": /^entity\.name\.type\.dialect\./,
  alias: /^constant\.other\.alias\./,
  "dialect attribute": /^support\.class\.attribute\./,
  "attribute name": /^entity\.other\.attribute-name\./,
  number: /^constant\.numeric\./,
};

module.exports = { find, SCOPES };
