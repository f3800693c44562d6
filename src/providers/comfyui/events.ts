import { isJsonObject } from "../../domain/json.ts";
import type { Previews } from "../../domain/ports/provider.ts";
import { MAX_PREVIEW_BYTES } from "../../domain/task/preview.ts";
import type { Upstream } from "../kit/http.ts";
import { parseJson } from "../kit/json-answer.ts";
import { readFrame } from "./frame.ts";
import { uuidOf } from "./ids.ts";
import { createLine } from "./line.ts";
import { createProgress, type Progress } from "./progress.ts";
import type { Prompt } from "./prompt.ts";
import type { Hints } from "./server.ts";

/** The events of a server. They may be missing: only what is shown of a running prompt depends on them. */
export interface Events extends Hints {
  /** The name that prompts are sent under, so that their events come here. */
  clientFor(attempt: string): string;
  stop(): void;
}

/** Text frames name every node of a graph that has begun. */
const MOST_BYTES = MAX_PREVIEW_BYTES + 64 * 1024;
/** A prompt with a recent event still exists. */
const FRESH_MS = 10_000;
/** A prompt that nobody asks for is forgotten. */
const FORGOTTEN_MS = 600_000;
/** Pictures come with the prompt that they are of. */
const GREETING = JSON.stringify({ type: "feature_flags", data: { supports_preview_metadata: true } });

interface Followed {
  readonly progress: Progress;
  previews: Previews | undefined;
  toldAt: number | undefined;
  askedAt: number;
}

/** Follows the events of one account's prompts on one connection, while there are any. */
export function createEvents(upstream: Upstream, baseUrl: string): Events {
  const { clock } = upstream;
  const followed = new Map<string, Followed>();
  let client: string | undefined;
  const line = createLine(
    {
      ...{ upstream, maxBytes: MOST_BYTES, greeting: GREETING },
      url: () => `${baseUrl}/ws?clientId=${client}`,
      isWanted: () => followed.size > 0,
    },
    takerFor(followed, () => clock.elapsed()),
  );
  return {
    clientFor(attempt) {
      client ??= uuidOf(`client ${attempt}`);
      return client;
    },
    follow(prompt: Prompt, previews) {
      // A prompt of an earlier process carries another name.
      if (client === undefined) return;
      const askedAt = clock.elapsed();
      for (const [id, each] of followed) if (askedAt - each.askedAt > FORGOTTEN_MS) followed.delete(id);
      const progress = followed.get(prompt.id)?.progress ?? createProgress(prompt);
      const toldAt = followed.get(prompt.id)?.toldAt;
      followed.set(prompt.id, { progress, previews, toldAt, askedAt });
      line.want();
    },
    progressOf: (id) => followed.get(id)?.progress.percent(),
    isAlive(id) {
      const { toldAt } = followed.get(id) ?? {};
      return toldAt !== undefined && clock.elapsed() - toldAt < FRESH_MS;
    },
    ended: (id) => void followed.delete(id),
    stop: line.stop,
  };
}

/**
 * Handles a message of the server. An event without a prompt belongs to the prompt of the last event, because prompts run one at a
 * time.
 */
function takerFor(followed: ReadonlyMap<string, Followed>, elapsed: () => number) {
  let running: string | undefined;
  const of = (id: unknown) => followed.get(typeof id === "string" ? id : (running ?? ""));
  return {
    text(text: string) {
      const message = parseJson(text);
      if (!isJsonObject(message) || !isJsonObject(message.data)) return;
      const { type, data } = { type: message.type, data: message.data };
      if (typeof data.prompt_id === "string") running = data.prompt_id;
      const found = of(data.prompt_id);
      if (found?.progress.event(String(type), data) === true) found.toldAt = elapsed();
    },
    bytes(bytes: Uint8Array) {
      const frame = readFrame(bytes);
      if (frame === undefined) return;
      const { progress, previews } = of(frame.promptId) ?? {};
      if (previews !== undefined) progress?.picture(frame.image, previews);
    },
    closed() {
      running = undefined;
      for (const each of followed.values()) each.toldAt = undefined;
    },
  };
}
