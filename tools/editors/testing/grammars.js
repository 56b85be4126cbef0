// Runs the grammars as VS Code does: vscode-textmate over Oniguruma.
"use strict";
const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const folder = path.join(__dirname, "..");
const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));

// VS Code gives a line of up to 20,000 characters this long, in milliseconds: here of the processor's
// time, since others may work on it as well. Longer lines may take longer.
const LINE_LIMIT = 500;
const limitOf = (line) => LINE_LIMIT * Math.max(1, line.length / 20_000);

const library = (() => {
  let loaded;
  return () => (loaded ??= load());
})();

async function load() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  return {
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (string) => new oniguruma.OnigString(string),
  };
}

// The grammars that package.json names: [{language, scopeName, path, source}].
function sources() {
  return manifest.contributes.grammars.map((grammar) => {
    const file = path.join(folder, grammar.path);
    return { ...grammar, file, source: JSON.parse(fs.readFileSync(file, "utf8")) };
  });
}

// The grammar in `source`, ready to tokenise.
async function compile(source) {
  const registry = new textmate.Registry({
    onigLib: library(),
    loadGrammar: async (scope) =>
      scope === source.scopeName
        ? textmate.parseRawGrammar(JSON.stringify(source), "grammar.json")
        : null,
  });
  return registry.loadGrammar(source.scopeName);
}

// A text with a scope for each character.
class Tokens {
  constructor(grammar, text) {
    this.text = text;
    this.root = null;
    this.lines = []; // {start, text, tokens, depth (before the line), stopped}
    this.slowest = { milliseconds: 0, line: 0 };
    let state = textmate.INITIAL;
    let start = 0;
    for (const line of text.split("\n")) {
      const before = process.cpuUsage();
      const result = grammar.tokenizeLine(line, state, 20 * limitOf(line));
      const { user, system } = process.cpuUsage(before);
      const milliseconds = (user + system) / 1000;
      if (milliseconds > this.slowest.milliseconds)
        this.slowest = { milliseconds, line: this.lines.length + 1, length: line.length };
      this.lines.push({
        start,
        text: line,
        tokens: result.tokens,
        depth: state.depth || 1,
        stopped: result.stoppedEarly || milliseconds > limitOf(line),
      });
      state = result.ruleStack;
      start += line.length + 1;
    }
    this.depth = state.depth; // after the last line
  }

  // The number, from 0, of the line that a place in the text is in.
  lineOf(offset) {
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lines[middle].start <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The scopes of a place in the text, without the grammar's own.
  scopesAt(offset) {
    const line = this.lines[this.lineOf(offset)];
    const column = offset - line.start;
    let low = 0;
    let high = line.tokens.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (line.tokens[middle].startIndex <= column) low = middle;
      else high = middle - 1;
    }
    return line.tokens[low].scopes.slice(1);
  }

  // LINE:COLUMN, from 1.
  place(offset) {
    const number = this.lineOf(offset);
    return `${number + 1}:${offset - this.lines[number].start + 1}`;
  }
}

module.exports = { Tokens, compile, sources, manifest, folder };
