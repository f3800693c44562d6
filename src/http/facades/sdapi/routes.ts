import type { PreviewFeed } from "../../../domain/ports/runtime.ts";
import { createJoinTask, type JoinTaskDeps } from "../../../service/join-task.ts";
import { createSlots } from "../../../toolkit/slots.ts";
import { type Endpoint, type KeyedExchange, keyed, polled } from "../../exchange.ts";
import { json } from "../../reply.ts";
import { createCalls } from "./calls.ts";
import { type DrawDeps, draw } from "./draw.ts";
import { enlarge } from "./extras.ts";
import { listing, refreshing } from "./list-wire.ts";
import { LISTS, listed, REFRESHES } from "./lists.ts";
import { BASE, OWN_PROGRESS, PING, QUEUE } from "./manners.ts";
import { readOptions, writeOptions } from "./options.ts";
import { pngInfo } from "./png-info.ts";
import { interrupt, ownProgress, type ProgressDeps, progress } from "./progress.ts";
import {
  ANSWER_PING,
  DRAW_FROM_IMAGE,
  DRAW_FROM_PROMPT,
  ENLARGE_ONE,
  ENLARGE_SEVERAL,
  INTERRUPT,
  READ_OPTIONS,
  READ_OWN_PROGRESS,
  READ_PNG_INFO,
  READ_PROGRESS,
  READ_QUEUE,
  SKIP,
  WRITE_OPTIONS,
} from "./wire.ts";

export interface Automatic1111Deps
  extends Omit<DrawDeps, "clock">,
    Omit<ProgressDeps, "calls">,
    JoinTaskDeps {
  readonly previews: PreviewFeed;
}

const CREATES = { feature: "compat", isCounted: true, sheds: "creates" } as const;

/** The API of AUTOMATIC1111's web UI, as its clients speak it. A call is a task, and what a client sets holds for its key alone. */
export function automatic1111Endpoints(given: Automatic1111Deps): Endpoint[] {
  const deps = {
    ...{ ...given, calls: createCalls(given), joinTask: createJoinTask(given) },
    // A whole file is in memory while it is read.
    readings: createSlots(1),
  };
  const creates = (
    path: string,
    contract: Endpoint["contract"],
    handle: (exchange: KeyedExchange) => ReturnType<typeof draw>,
  ) => keyed("POST", `${BASE}/${path}`, contract, CREATES, handle);
  return [
    creates("txt2img", DRAW_FROM_PROMPT, (exchange) => draw(deps, exchange, "txt2img")),
    creates("img2img", DRAW_FROM_IMAGE, (exchange) => draw(deps, exchange, "img2img")),
    creates("extra-single-image", ENLARGE_ONE, (exchange) => enlarge(deps, exchange, "single")),
    creates("extra-batch-images", ENLARGE_SEVERAL, (exchange) => enlarge(deps, exchange, "batch")),
    keyed("POST", `${BASE}/png-info`, READ_PNG_INFO, { isCounted: true }, (exchange) =>
      pngInfo(deps, exchange),
    ),
    polled(`${BASE}/progress`, READ_PROGRESS, (exchange) => progress(deps, exchange), "reads"),
    keyed("POST", OWN_PROGRESS, READ_OWN_PROGRESS, { logLevel: "debug" }, (exchange) =>
      ownProgress(deps, exchange),
    ),
    keyed("POST", `${BASE}/interrupt`, INTERRUPT, {}, (exchange) =>
      interrupt(deps, exchange, "wasInterrupted"),
    ),
    keyed("POST", `${BASE}/skip`, SKIP, {}, (exchange) => interrupt(deps, exchange, "wasSkipped")),
    polled(`${BASE}/options`, READ_OPTIONS, (exchange) => readOptions(deps, exchange)),
    keyed("POST", `${BASE}/options`, WRITE_OPTIONS, {}, (exchange) => writeOptions(deps, exchange)),
    ...Object.entries(LISTS).map(([path, list]) =>
      polled(`${BASE}/${path}`, listing(path), (exchange) => listed(deps, exchange, list)),
    ),
    ...REFRESHES.map((path) => keyed("POST", `${BASE}/${path}`, refreshing(path), {}, () => json(null))),
    polled(PING, ANSWER_PING, () => json({})),
    polled(QUEUE, READ_QUEUE, async ({ principal }) => {
      const { length } = await deps.calls.running(principal.keyId);
      const unknown = { avg_event_process_time: null, avg_event_concurrent_process_time: null };
      return json({
        msg: "estimation",
        queue_size: length,
        ...unknown,
        rank: null,
        rank_eta: null,
        queue_eta: 0,
      });
    }),
  ];
}
