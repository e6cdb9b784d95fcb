// The editor of the playground: CodeMirror 6 with the words of a language and of the events.
// What it needs to know, and what to do, is given by src/cereus/play/static/play.js.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.typeName, color: "var(--code-type)", fontWeight: "600" },
  { tag: tags.propertyName, color: "var(--code-column)" },
  { tag: tags.function(tags.variableName), color: "var(--code-function)" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--band)", fontSize: "15px" },
  "&.cm-focused": { outline: "2px solid var(--main)" },
  ".cm-content": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, monospace", caretColor: "var(--ink)", padding: "10px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--band)", color: "var(--soft)", border: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--chosen)" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--main)", color: "var(--paper)" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--warn)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--chosen)" },
});

// Words are read in any case, except the names of types and columns.
function tokens({ keywords, functions, types, columns }) {
  const words = new Set(keywords.map((word) => word.toLowerCase()));
  const named = new Set(functions);
  const typed = new Set(types);
  const known = new Set(columns);
  return StreamLanguage.define({
    startState: () => ({ comment: false }),
    token(stream, state) {
      if (state.comment || stream.match("/*")) {
        state.comment = !stream.match(/^.*?\*\//);
        if (state.comment) stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (stream.match(/^--.*/)) return "comment";
      if (stream.match(/^'(?:[^']|'')*'?/)) return "string";
      if (stream.match(/^"(?:[^"]|"")*"?/)) return "typeName";
      if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number";
      if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) {
        const word = stream.current();
        if (typed.has(word)) return "typeName";
        if (known.has(word)) return "propertyName";
        if (named.has(word.toLowerCase()) && /^\s*\(/.test(stream.string.slice(stream.pos))) return "variableName.function";
        return words.has(word.toLowerCase()) ? "keyword" : "variableName";
      }
      stream.next();
      return null;
    },
    languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } } },
  });
}

const KINDS = { keyword: "keyword", function: "function", column: "property", type: "type", name: "variable" };

// `complete(text, offset)` promises words with their kinds; `changed` is called with each new
// text, `run` on Ctrl-Enter. Tab leaves the editor, as it does everywhere on the page.
export function createEditor({ parent, label, complete, changed, run }) {
  const language = new Compartment();
  const source = async (context) => {
    const begun = context.matchBefore(/[\p{L}\p{N}_]*/u);
    const dotted = context.matchBefore(/\.[\p{L}\p{N}_]*/u);
    if (!context.explicit && !dotted && begun.from === begun.to) return null;
    const words = await complete(context.state.doc.toString(), context.pos);
    return {
      from: begun.from,
      options: words.map(({ label, kind }, place) => ({ label, type: KINDS[kind], detail: kind, boost: -place / 1000 })),
      validFor: /^[\p{L}\p{N}_]*$/u,
    };
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: "",
      extensions: [
        keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }]),
        lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(),
        autocompletion({ override: [source], icons: false }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
        language.of([]), syntaxHighlighting(colours), theme, EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  return {
    get text() { return view.state.doc.toString(); },
    set text(text) { view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }); },
    know(words) { view.dispatch({ effects: language.reconfigure(tokens(words)) }); },
    // Places are counted in letters by the server, in UTF-16 units here.
    mark(problems) {
      const text = view.state.doc.toString();
      const letters = Array.from(text);
      const at = (place) => letters.slice(0, place).join("").length;
      view.dispatch(setDiagnostics(view.state, problems
        .filter((each) => each.error)
        .map((each) => ({ from: at(each.start), to: at(each.end), severity: "error", message: each.message }))));
    },
    focus() { view.focus(); },
  };
}
