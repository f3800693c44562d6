import { type Endpoint, keyed, polled } from "../../../exchange.ts";
import { V1BETA } from "../manners.ts";
import { createInteraction, type InteractionDeps } from "./create.ts";
import { cancelInteraction, deleteInteraction, type ReadInteractionDeps, readInteraction } from "./read.ts";
import { CANCEL_INTERACTION, CREATE_INTERACTION, DELETE_INTERACTION, READ_INTERACTION } from "./wire.ts";

export type InteractionsDeps = InteractionDeps & ReadInteractionDeps;

const PATH = `${V1BETA}/interactions`;
const ONE = `${PATH}/:interaction`;
/** Which feature a key needs depends on the model. */
const CREATES = { isCounted: true, sheds: "creates" } as const;

/** Google's Interactions API (docs/facades.md). An interaction is a task, and its id is the task's. */
export function interactionEndpoints(deps: InteractionsDeps): Endpoint[] {
  return [
    keyed("POST", PATH, CREATE_INTERACTION, CREATES, (exchange) => createInteraction(deps, exchange)),
    polled(ONE, READ_INTERACTION, (exchange) => readInteraction(deps, exchange), "reads"),
    keyed("DELETE", ONE, DELETE_INTERACTION, {}, (exchange) => deleteInteraction(deps, exchange)),
    keyed("POST", `${ONE}/cancel`, CANCEL_INTERACTION, {}, (exchange) => cancelInteraction(deps, exchange)),
  ];
}
