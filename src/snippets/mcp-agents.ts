/** Where an agent finds the service, and how it is named there. */
export interface AgentPlace {
  /** Scheme and host of the service, without a slash at the end. */
  readonly server: string;
  /** The API key, or what the agent replaces by it. Each agent has a form of its own for a variable, `variable` of its snippet. */
  readonly key: string;
}

/** How one agent is told of this service's tools. */
export interface AgentSnippet {
  /** What `--for` of `svc keys snippet` calls it. */
  readonly id: `mcp-${string}`;
  readonly title: string;
  /** The file that it belongs into, in Markdown. */
  readonly where: string;
  readonly language: "json" | "toml" | "yaml";
  /** How the agent writes the value of the variable `SVC_API_KEY`; undefined where it replaces none, and the key itself is needed. */
  readonly variable?: string | undefined;
  readonly text: (place: AgentPlace) => string;
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** The configuration of the usual agents, in the order the documents list them. */
export const MCP_AGENTS: readonly AgentSnippet[] = [
  {
    id: "mcp-claude-code",
    title: "Claude Code",
    where:
      "`.mcp.json` in the project; or `claude mcp add-json svc '…' --scope user` with what is below `svc`",
    language: "json",
    variable: "${SVC_API_KEY}",
    text: ({ server, key }) =>
      json({ mcpServers: { svc: { type: "http", url: `${server}/mcp`, headers: bearer(key) } } }),
  },
  {
    id: "mcp-claude-desktop",
    title: "Claude Desktop",
    where: "`claude_desktop_config.json` (Settings, Developer, Edit Config)",
    language: "json",
    text: ({ server, key }) =>
      json({
        mcpServers: { svc: { command: "svc", args: ["mcp"], env: { SVC_SERVER: server, SVC_API_KEY: key } } },
      }),
  },
  {
    id: "mcp-cursor",
    title: "Cursor",
    where: "`~/.cursor/mcp.json`, or `.cursor/mcp.json` in the project",
    language: "json",
    variable: "${env:SVC_API_KEY}",
    text: ({ server, key }) => json({ mcpServers: { svc: { url: `${server}/mcp`, headers: bearer(key) } } }),
  },
  {
    id: "mcp-vscode",
    title: "VS Code",
    where: "`.vscode/mcp.json` in the workspace, or the user's `mcp.json`; it asks for the key once",
    language: "json",
    variable: "${input:svc-api-key}",
    text: ({ server, key }) =>
      json({
        inputs: [{ type: "promptString", id: "svc-api-key", description: "API key of svc", password: true }],
        servers: { svc: { type: "http", url: `${server}/mcp`, headers: bearer(key) } },
      }),
  },
  {
    id: "mcp-codex",
    title: "Codex CLI",
    where: "`~/.codex/config.toml`; it reads the key from the variable, and takes none in the file",
    language: "toml",
    variable: "SVC_API_KEY",
    text: ({ server }) =>
      [
        "[mcp_servers.svc]",
        `url = "${server}/mcp"`,
        'bearer_token_env_var = "SVC_API_KEY"',
        "tool_timeout_sec = 600",
      ].join("\n"),
  },
  {
    id: "mcp-gemini-cli",
    title: "Gemini CLI",
    where: "`~/.gemini/settings.json`, or `.gemini/settings.json` in the project",
    language: "json",
    variable: "$SVC_API_KEY",
    text: ({ server, key }) =>
      json({ mcpServers: { svc: { httpUrl: `${server}/mcp`, headers: bearer(key), timeout: 600_000 } } }),
  },
  {
    id: "mcp-continue",
    title: "Continue",
    where:
      "`~/.continue/config.yaml`, or a file of its own in `.continue/mcpServers/` with `name`, `version` and `schema` before it",
    language: "yaml",
    variable: "${{ secrets.SVC_API_KEY }}",
    text: ({ server, key }) =>
      [
        "mcpServers:",
        "  - name: svc",
        "    type: streamable-http",
        `    url: ${server}/mcp`,
        "    requestOptions:",
        "      headers:",
        `        Authorization: Bearer ${key}`,
      ].join("\n"),
  },
  {
    id: "mcp-zed",
    title: "Zed",
    where: "`settings.json` (`zed: open settings file`)",
    language: "json",
    text: ({ server, key }) =>
      json({ context_servers: { svc: { url: `${server}/mcp`, headers: bearer(key) } } }),
  },
  {
    id: "mcp-opencode",
    title: "opencode",
    where: "`opencode.json` in the project, or `~/.config/opencode/opencode.json`",
    language: "json",
    variable: "{env:SVC_API_KEY}",
    text: ({ server, key }) =>
      json({
        mcp: {
          svc: { type: "remote", url: `${server}/mcp`, headers: bearer(key), oauth: false, enabled: true },
        },
      }),
  },
];
