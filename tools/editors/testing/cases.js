// Cases in the notation of vscode-tmgrammar-test: below a line of text, lines such as
//   //   ^^^^ scope scope
// say which scopes, in this order and perhaps with others between, the text above the ^ has.
// `// <--` in place of the ^ means the line's first characters, one for each dash.
"use strict";

const ASSERTION = /^\/\/(\s*)(?:(\^+)|<(-+))\s+(\S.*)$/;

// {scopeName, text, assertions: [{line, start, end, scopes, at}]}
function parse(source) {
  const lines = source.split("\n");
  const header = /^\/\/ SYNTAX TEST "([^"]+)"/.exec(lines[0]);
  if (!header) throw new Error('the first line has to be: // SYNTAX TEST "scope"');
  const text = [lines[0]];
  const assertions = [];
  for (const [number, line] of lines.slice(1).entries()) {
    const match = ASSERTION.exec(line);
    if (!match) {
      text.push(line);
      continue;
    }
    const start = match[2] ? 2 + match[1].length : 0;
    const end = start + (match[2] || match[3]).length;
    assertions.push({ line: text.length - 1, start, end, scopes: match[4].split(/\s+/), at: number + 2 });
  }
  return { scopeName: header[1], text: text.join("\n"), assertions };
}

// The problems: an assertion that doesn't hold.
function check({ assertions }, tokens) {
  const problems = [];
  for (const { line, start, end, scopes, at } of assertions) {
    const from = tokens.lines[line].start;
    for (let column = start; column < end; column++) {
      const has = tokens.scopesAt(from + column);
      let next = 0;
      for (const scope of has) if (scope === scopes[next]) next++;
      if (next === scopes.length) continue;
      const what = tokens.text.slice(from + start, from + end);
      problems.push(`${at}: '${what}' has the scopes [${has.join(" ")}], not [${scopes.join(" ")}]`);
      break;
    }
  }
  return problems;
}

module.exports = { parse, check };
