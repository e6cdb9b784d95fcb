"use strict";
// Starts `cereus lsp` and hands the editor over to it.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("cereus").get("command");
  const languages = ["ceql", "sremo", "sase", "par", "algebra", "sql"];
  client = new LanguageClient(
    "cereus",
    "Cereus",
    { command, args: ["lsp"] },
    { documentSelector: languages.map((language) => ({ language })) },
  );
  return client.start();
};

exports.deactivate = () => client && client.stop();
