// Checks the scopes that a grammar gives to a text against what another reader finds in it.
"use strict";

const readers = {
  "source.mlir.stablehlo": require("./mlir.js"),
  "source.hlo": require("./hlo.js"),
};

const isString = (scope) => scope.startsWith("string.quoted.");
const isComment = (scope) => scope.startsWith("comment.");

// The problems of one text, as sentences with their place; `counts` and `plain` take what was seen:
// how many of each kind, and how often each word without a scope.
function check(tokens, scopeName, counts, plain) {
  const problems = [];
  const { find, SCOPES } = readers[scopeName];
  const { text } = tokens;
  const { found, statements, masked } = find(text);
  const say = (offset, what) => problems.push(`${tokens.place(offset)}: ${what}`);
  const count = (kind) => counts.set(kind, (counts.get(kind) || 0) + 1);

  // No line takes too long, and nothing is left open where an op begins or the text ends.
  for (const line of tokens.lines) if (line.stopped) say(line.start, "takes too long");
  for (const start of statements) {
    const { depth } = tokens.lines[tokens.lineOf(start)];
    if (depth !== 1) say(start, `a scope of an earlier line is still open: ${tokens.scopesAt(start)}`);
  }
  if (tokens.depth !== 1) say(text.length, "a scope is still open at the end");

  // Strings and comments, and nothing else, have the scopes of strings and comments.
  const expected = new Uint8Array(text.length); // 1: string, 2: comment
  for (const { kind, start, end } of found) {
    if (kind !== "string" && kind !== "comment") continue;
    expected.fill(kind === "string" ? 1 : 2, start, end);
    count(kind);
  }
  for (const { kind, start, end } of found)
    if (kind === "not a string") expected.fill(0, start, end);
  for (const line of tokens.lines) {
    for (const token of line.tokens) {
      const comment = token.scopes.some(isComment);
      const is = comment ? 2 : token.scopes.some(isString) ? 1 : 0;
      for (let i = line.start + token.startIndex; i < line.start + token.endIndex && i < text.length; i++) {
        if (expected[i] === is || /\s/.test(text[i])) continue;
        const names = ["code", "a string", "a comment"];
        say(i, `${JSON.stringify(text.slice(i, i + 20))} is ${names[expected[i]]}, its scopes say ${names[is]}`);
        break;
      }
    }
  }

  // All else has its own scope, from its first character to its last.
  for (const { kind, start, end } of found) {
    const scope = SCOPES[kind];
    if (!scope) continue;
    count(kind);
    const wrong = [start, end - 1].find((at) => !tokens.scopesAt(at).some((name) => scope.test(name)));
    if (wrong !== undefined)
      say(wrong, `${kind} '${text.slice(start, end)}' has the scopes [${tokens.scopesAt(wrong).join(" ")}]`);
  }

  // So have brackets and what separates.
  for (const match of masked.matchAll(/[()[\]{}<>,:=]/g))
    if (!tokens.scopesAt(match.index).some((name) => !name.startsWith("meta.")))
      say(match.index, `'${match[0]}' has no scope of its own`);

  // Words without any scope of their own.
  for (const line of tokens.lines) {
    for (const token of line.tokens) {
      const start = line.start + token.startIndex;
      const words = masked.slice(start, line.start + token.endIndex).match(/[A-Za-z_][\w.$]*/g) || [];
      for (const word of words) {
        count("word");
        if (token.scopes.slice(1).every((name) => name.startsWith("meta.")))
          plain.set(word, (plain.get(word) || 0) + 1);
      }
    }
  }
  return problems;
}

module.exports = { check };
