/** Where the makers of an agent say how it is told of servers. */
export interface AgentSource {
  readonly url: string;
  /** Whether the snippet was compared with what is there. None was tried with the agent itself. */
  readonly isRead: boolean;
}

const read = (url: string): AgentSource => ({ url, isRead: true });
const unread = (url: string): AgentSource => ({ url, isRead: false });

/**
 * By the ids of `MCP_AGENTS`. What is read was read on 2026-11-27, as a page or as the source that it is built from. Apart from the
 * snippets, because the console names no other origin.
 */
export const MCP_SOURCES: Readonly<Record<string, AgentSource>> = {
  "mcp-claude-code": read(
    "https://github.com/anthropics/claude-code/blob/main/plugins/plugin-dev/skills/mcp-integration/references/server-types.md",
  ),
  "mcp-claude-desktop": read("https://modelcontextprotocol.io/docs/develop/connect-local-servers"),
  "mcp-cursor": unread("https://cursor.com/docs/mcp"),
  "mcp-vscode": read("https://code.visualstudio.com/docs/copilot/reference/mcp-configuration"),
  "mcp-codex": unread("https://developers.openai.com/codex/mcp"),
  "mcp-gemini-cli": read("https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md"),
  "mcp-continue": read("https://docs.continue.dev/customize/deep-dives/mcp"),
  "mcp-zed": read("https://github.com/zed-industries/zed/blob/main/crates/settings_content/src/project.rs"),
  "mcp-opencode": read("https://opencode.ai/docs/mcp-servers"),
};
