import { trailPageForm } from "../../../domain/access/trail.ts";
import type { ReadTrail, TrailQuery } from "../../../service/read-trail.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { DEFAULT_PAGE, READ_TRAIL, TRAIL_QUERY } from "./wire.ts";

/** GET /admin/v1/audit-log. */
export function trailEndpoints({ readTrail }: { readonly readTrail: ReadTrail }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/audit-log", READ_TRAIL, async ({ query }) => {
      // The schema has checked that it is of this type.
      const asked = checkQuery(TRAIL_QUERY, query()) as Partial<TrailQuery>;
      return success(trailPageForm(await readTrail({ limit: DEFAULT_PAGE, ...asked })));
    }),
  ];
}
