import { nodeForm } from "../../../domain/node-form.ts";
import type { NodeStore } from "../../../domain/ports/node-store.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { LIST_NODES } from "./wire.ts";

/** GET /admin/v1/nodes. */
export function nodeEndpoints({ listNodes }: { readonly listNodes: NodeStore["all"] }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/nodes", LIST_NODES, async () => {
      const { nodes, now } = await listNodes();
      return success({ nodes: nodes.map((node) => nodeForm(node, now)) });
    }),
  ];
}
