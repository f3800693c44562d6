import type { Overview } from "../../../domain/overview.ts";
import type { ReadOverview } from "../../../service/read-overview.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { type Reply, success } from "../../reply.ts";
import { type Identity, presentOverview } from "./present.ts";
import { READ_OVERVIEW } from "./wire.ts";

/** The state of the whole service, for operators who watch it. */
export function overviewEndpoints({
  readOverview,
  ...identity
}: Identity & { readonly readOverview: ReadOverview }): Endpoint[] {
  let latest: { readonly overview: Overview; readonly reply: Reply } | undefined;
  const handle = async () => {
    const overview = await readOverview();
    if (latest?.overview !== overview)
      latest = { overview, reply: success(presentOverview(overview, identity)) };
    return latest.reply;
  };
  return [{ ...managed("GET", "/admin/v1/overview", READ_OVERVIEW, handle), logLevel: "debug" }];
}
