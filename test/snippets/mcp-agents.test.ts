import { expect, test } from "bun:test";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type AgentSnippet, MCP_AGENTS } from "../../src/snippets/mcp-agents.ts";
import { MCP_SOURCES } from "../../src/snippets/mcp-sources.ts";

const DOCUMENT = join(import.meta.dir, "../../docs/mcp.md");
const PLACE = { server: "https://media.example", key: "sk-svc-key" };

function parse({ language, text }: AgentSnippet): unknown {
  const given = text(PLACE);
  if (language === "json") return JSON.parse(given);
  return language === "toml" ? Bun.TOML.parse(given) : Bun.YAML.parse(given);
}

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value as JsonObject).flatMap(textsIn) : [];
}

test.each(MCP_AGENTS.map((agent) => [agent.id, agent] as const))(
  "the configuration for %s can be read, and has the address and the key",
  (_, agent) => {
    const texts = textsIn(parse(agent));
    const isLocal = texts.includes("mcp");
    expect(texts).toContain(isLocal ? PLACE.server : `${PLACE.server}/mcp`);
    // One agent takes no key in its file, but the name of a variable.
    const key = agent.id === "mcp-codex" ? "SVC_API_KEY" : PLACE.key;
    expect(texts.some((each) => each === key || each === `Bearer ${key}`)).toBe(true);
  },
);

test("ids are told apart, and sources are addresses", () => {
  const ids = MCP_AGENTS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(Object.keys(MCP_SOURCES).sort() as string[]).toEqual([...ids].sort());
  for (const { url } of Object.values(MCP_SOURCES)) expect(URL.parse(url)?.protocol).toBe("https:");
});

test("the document has each as it is here", async () => {
  const document = await Bun.file(DOCUMENT).text();
  for (const { title, language, variable = "sk-svc-…", id, where, text } of MCP_AGENTS) {
    const block = text({ server: "http://127.0.0.1:8787", key: variable });
    expect(document).toContain(`\`\`\`${language}\n${block}\n\`\`\`\n`);
    const source = MCP_SOURCES[id];
    const verdict = `${source?.isRead ? "Checked against" : "Not checked against"} [`;
    const [section = ""] = document.split(`### ${title}\n`)[1]?.split("\n### ") ?? [];
    // Lines are broken where they are long.
    const words = section.replaceAll("\n", " ");
    for (const each of [verdict, `(${source?.url})`, where]) expect(words).toContain(each);
  }
});
