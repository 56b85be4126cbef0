// Finds in HLO text, by its own means, what the grammar has to give a scope to.
"use strict";

// Strings and comments of a text, and the text with both blanked out, at the same length.
function mask(text) {
  const spans = []; // {kind, start, end}
  const masked = text.replace(
    /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\.)*'|\/\/.*|\/\*[^]*?\*\//g,
    (match, start) => {
      const kind = match[0] === "/" ? "comment" : "string";
      spans.push({ kind, start, end: start + match.length });
      return match.replace(/[^\n]/g, kind === "string" ? '"' : " ");
    },
  );
  return { spans, masked };
}

const CLOSING = { "(": ")", "{": "}", "[": "]" };

// Where the bracket that opens at `start` is closed, or -1.
function closing(text, start) {
  const expected = [];
  for (let i = start; i < text.length; i++) {
    if (CLOSING[text[i]]) expected.push(CLOSING[text[i]]);
    else if (")}]".includes(text[i])) {
      if (expected.pop() !== text[i]) return -1;
      if (expected.length === 0) return i;
    }
  }
  return -1;
}

const COMPUTATIONS =
  /\b(?:to_apply|calls|body|condition|comparator|select|scatter|true_computation|false_computation)=(%?[\w.-]+)/dg;

// [{kind, start, end}], and `statements`: where instructions begin.
function find(text) {
  const { spans, masked } = mask(text);
  const found = spans.map((span) => ({ ...span }));
  const statements = [];
  const add = (kind, start, length) => found.push({ kind, start, end: start + length });
  const addGroup = (kind, match, group, from = 0) =>
    match[group] && add(kind, from + match.indices[group][0], match[group].length);

  for (const match of masked.matchAll(/^[ \t]*(?:(ENTRY)\s+)?(%?[\w.-]+)\s*(\(.*\) *-> *[^=]*?)?\{[ \t]*$/dgm)) {
    addGroup("keyword", match, 1);
    addGroup("computation", match, 2);
    for (const parameter of (match[3] || "").matchAll(/(?<=[(,]\s*)(%?[\w.-]+):/dg))
      addGroup("value", parameter, 1, match.indices[3][0]);
  }
  for (const match of masked.matchAll(/\bHloModule\b/g)) add("keyword", match.index, 9);

  for (const match of masked.matchAll(/^[ \t]*(?:(ROOT)[ \t]+)?(%?[\w.-]+)[ \t]*=[ \t]+/dgm)) {
    let at = match.index + match[0].length;
    // The shape: a tuple, or a type with dimensions and perhaps a layout.
    if (masked[at] === "(") {
      at = closing(masked, at) + 1;
    } else {
      const shape = /^(\w+)\[[^\]]*\]/.exec(masked.slice(at, at + 999));
      if (!shape) continue;
      add("type", at, shape[1].length);
      at += shape[0].length;
      if (masked[at] === "{") at = closing(masked, at) + 1;
    }
    const opcode = /^\s*([a-z][\w-]*)\(/d.exec(masked.slice(at, at + 999));
    if (at <= 0 || !opcode) continue;
    statements.push(match.index);
    addGroup("keyword", match, 1);
    addGroup("value", match, 2);
    addGroup("operation", opcode, 1, at);

    const open = at + opcode[0].length - 1;
    const close = closing(masked, open);
    if (close < 0) continue;
    const operands = masked.slice(open, close);
    if (opcode[1] === "constant") {
      for (const number of operands.matchAll(/(?<![\w.-])-?(?:\d[\d.e+-]*|inf|nan)(?![\w.[\](])/g))
        add("number", open + number.index, number[0].length);
    } else {
      for (const operand of operands.matchAll(/%[\w.-]+|(?<![\w.%-])[A-Za-z_][\w.-]*(?=\s*[,)]|\s*$)/g))
        if (!/^[A-Z]+$/.test(operand[0])) add("value", open + operand.index, operand[0].length);
    }
    // The attributes: until the end of the line, over lines while a bracket is open.
    let end = close + 1;
    while (end < masked.length && masked[end] !== "\n")
      end = CLOSING[masked[end]] ? Math.max(closing(masked, end), end) + 1 : end + 1;
    const attributes = masked.slice(close + 1, end);
    for (const key of attributes.matchAll(/(?<=[\s,{])([A-Za-z_][\w.-]*)=(?!\s)/dg))
      addGroup("attribute name", key, 1, close + 1);
    for (const use of attributes.matchAll(COMPUTATIONS))
      addGroup("computation", use, 1, close + 1);
  }
  for (const match of masked.matchAll(/(?<![\w.%-])(?:pred|token|[suf]\d+\w*|bf16|c\d+)(?=\[)/g))
    add("type", match.index, match[0].length);
  return { found, statements, spans, masked };
}

const SCOPES = {
  operation: /^support\.function\.op\./,
  value: /^variable\./,
  computation: /^entity\.name\.function\./,
  keyword: /^keyword\.control\./,
  type: /^storage\.type\./,
  "attribute name": /^entity\.other\.attribute-name\./,
  number: /^constant\.numeric\./,
};

module.exports = { find, SCOPES };
