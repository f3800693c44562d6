import { MCP_AGENTS } from "./mcp-agents.ts";
import { KEY_VARIABLE, type Snippet } from "./snippet.ts";

/** Agents that speak the Model Context Protocol. An agent that expands no variables gets a placeholder that nobody takes for a key. */
export const AGENTS: readonly Snippet[] = MCP_AGENTS.map(
  ({ id, title, where, language, variable, text }): Snippet => {
    const place = `In ${where.replaceAll("`", "")}.`;
    const textOf: Snippet["text"] = ({ origin, key = variable ?? `YOUR_${KEY_VARIABLE}` }) =>
      text({ server: origin, key });
    // Its tools make both, and find the models that the key may use.
    return { id, name: title, place, language, facade: "mcp", text: textOf, film: { place, text: textOf } };
  },
);
