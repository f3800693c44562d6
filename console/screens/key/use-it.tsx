import { SNIPPETS } from "../../../src/snippets/all.ts";
import { ask } from "../../api/ask.ts";
import { ROOT } from "../../api/connection.ts";
import type { Role } from "../../api/session.ts";
import { useReading } from "../../api/use.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Choice } from "../../parts/field.tsx";
import { stored } from "../../shell/stored.ts";

const IDS = SNIPPETS.map(({ id }) => id);
/** The program that this reader last looked at. */
const chosen = stored("snippet", IDS, "curl");
const FALLBACK = { id: "sandbox-image", kind: "image" } as const;
/** What a snippet needs its model to do, the better one first. */
const MODES = ["text-to-image", "text-to-video"];

interface Props {
  /** Whose models are looked at. */
  readonly reader: Role;
  /** The key itself, while it is known. */
  readonly secret?: string | undefined;
  /** Patterns of models that the key may use; null: all. */
  readonly models?: readonly string[] | null | undefined;
}

/** How programs are told of this service and a key, ready for copying. */
export function UseIt({ reader, secret, models }: Props) {
  const { data } = useReading(`models ${reader}`, (signal) => ableModels(reader, signal));
  const { id: model, kind } = data?.find(({ id }) => fits(id, models)) ?? FALLBACK;
  const able = SNIPPETS.flatMap((each) => {
    const way = kind === "video" ? each.film : each;
    return way === undefined ? [] : [{ id: each.id, name: each.name, place: way.place, text: way.text }];
  });
  const snippet = able.find(({ id }) => id === chosen.value) ?? able[0];
  if (snippet === undefined) return null;
  const origin = ROOT.href.replace(/\/$/, "");
  return (
    <div class="flex min-w-0 flex-col gap-2">
      <div class="max-w-xs">
        <Choice
          label="Use it with"
          value={snippet.id}
          choices={able.map(({ id, name }) => [id, name] as const)}
          onChoice={(id) => (chosen.value = id)}
        />
      </div>
      <p class="text-sm text-soft">{snippet.place}</p>
      <CodeBlock label={`Settings for ${snippet.name}`} text={snippet.text({ origin, key: secret, model })} />
    </div>
  );
}

/** The models that make something of a text, those of pictures first. */
async function ableModels(reader: Role, signal: AbortSignal) {
  const models =
    reader === "operator"
      ? (await ask("GET /admin/v1/models", { query: {} }, { signal })).models
      : (await ask("GET /v1/models", { query: {} }, { signal })).models;
  const available = models.filter((each) => each.available);
  return MODES.flatMap((mode) => available.filter(({ modes }) => modes.includes(mode)));
}

/** Whether a key with these patterns may use a model. */
function fits(id: string, patterns: readonly string[] | null | undefined): boolean {
  if (patterns === null || patterns === undefined) return true;
  return patterns.some((pattern) => {
    const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`).test(id);
  });
}
