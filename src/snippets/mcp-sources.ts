/**
 * Where the makers of an agent say how it is told of servers, by the ids of `MCP_AGENTS`. Read 2026-11-27. Apart from these, because
 * the console names no other origin.
 */
export const MCP_SOURCES: Readonly<Record<string, string>> = {
  "mcp-claude-code": "https://code.claude.com/docs/en/mcp",
  "mcp-claude-desktop": "https://modelcontextprotocol.io/quickstart/user",
  "mcp-cursor": "https://cursor.com/docs/mcp",
  "mcp-vscode": "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
  "mcp-codex": "https://developers.openai.com/codex/mcp",
  "mcp-gemini-cli": "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
  "mcp-continue": "https://docs.continue.dev/customize/deep-dives/mcp",
  "mcp-zed": "https://zed.dev/docs/ai/mcp",
  "mcp-opencode": "https://opencode.ai/docs/mcp-servers",
};
