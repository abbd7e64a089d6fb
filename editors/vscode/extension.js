// Starts `constrint lsp` for .constrint files. Colours need no server: they come from the grammar alone.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("constrint").get("command");
  client = new LanguageClient(
    "constrint",
    "constrint",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "constrint" }] },
  );
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
