import type { Command } from "commander";
import { estimateFor } from "../client/choose-model.ts";
import { modelOf } from "../client/model.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../client/remote.ts";
import { onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { unexpectedAnswer, usage } from "../failure.ts";
import { addRequestFlags, type RequestFlags, readRequest } from "../flags/request.ts";
import { estimateText } from "../format/estimate-view.ts";
import { withExamples, withNotes } from "../help/manual.ts";

/** `svc estimate -m sandbox-image -n 4` */
export function defineEstimate(command: Command, context: Context): void {
  addRequestFlags(withRemoteFlags(command), "one of `svc models list`");
  withExamples(
    command,
    "svc estimate -m sandbox-image -n 4",
    "svc estimate -m sandbox-video -i duration=8 -i resolution=720p",
    ["svc estimate -m sandbox-image --field max_cost", "the most it can cost, and nothing else"],
  );
  withNotes(command, "Nothing is made or held. The prompt and media may be left out.");
  onRun<RemoteFlags & RequestFlags>(command, context, async ({ options, output }) => {
    const request = await readRequest(options, context);
    const { model: id } = request;
    if (id === undefined) throw usage("Give a model with -m, --model.", "`svc models list` lists them.");
    const { client } = connect(options, context, output);
    const model = modelOf(await client.model(id), id);
    const estimate = await estimateFor(client, model, await request.bodyFor(model));
    if (estimate === undefined) throw unexpectedAnswer("The server gives no estimates.");
    const text = await estimateText(estimate, output);
    output.show(estimate, () => text);
  });
}
