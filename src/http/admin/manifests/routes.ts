import type { JsonObject } from "../../../domain/json.ts";
import type { ManifestFinding } from "../../../domain/ports/manifests.ts";
import type { ManageManifests } from "../../../service/manage-manifests.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, type ManagedExchange, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { MANIFEST_BODY, MANIFESTS } from "./wire.ts";

/** Checks, reads, writes and removes the files of an operator's own models. */
export function manifestEndpoints(manifests: ManageManifests): Endpoint[] {
  const path = "/admin/v1/models/:model/manifest";
  const textOf = async (exchange: ManagedExchange) =>
    (await readBody<{ text: string }>(exchange, MANIFEST_BODY)).text;
  return [
    managed("POST", "/admin/v1/models/check", MANIFESTS.check, async (exchange) => {
      const { id = null, findings } = await manifests.check(await textOf(exchange));
      return success({ model: id, findings: findings.map(present) });
    }),
    managed("GET", path, MANIFESTS.read, ({ param }) => success(manifests.read(param("model")))),
    managed("PUT", path, MANIFESTS.write, async (exchange) => {
      const text = await textOf(exchange);
      const { findings, ...written } = await manifests.write(
        exchange.operator,
        exchange.param("model"),
        text,
      );
      return success({ ...written, findings: findings.map(present) });
    }),
    managed("DELETE", path, MANIFESTS.remove, async ({ operator, param }) =>
      success(await manifests.remove(operator, param("model"))),
    ),
  ];
}

const present = ({ line, column, message }: ManifestFinding): JsonObject => ({ line, column, message });
