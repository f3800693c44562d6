import type { ExampleForm } from "../../../src/providers/declared/form.ts";
import {
  type Ending,
  endingOf,
  rehearsedProvider,
  requestOf,
} from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";
import { builtInForm } from "./harness.ts";

/** How a request to a provider ends that answers in this way; the last answer is given again. */
export async function play(
  provider: string,
  request: ExampleForm["request"],
  answers: readonly Scripted[],
): Promise<Ending> {
  const left = [...answers];
  const upstream = await startUpstream(() => (left.length > 1 ? left.shift() : left[0]) ?? { json: {} });
  try {
    const adapter = rehearsedProvider(builtInForm(`${provider}.yaml`), upstream.origin, fakeClock());
    return await endingOf(
      adapter,
      requestOf({ name: "", request, answers: [], ends: "pending" }, provider),
      3,
    );
  } finally {
    upstream.stop();
  }
}
