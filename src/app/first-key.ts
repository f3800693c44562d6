import type { Config } from "../config/config.ts";
import type { createManageAccounts } from "../service/manage-account.ts";
import type { AppOverrides } from "./rooms.ts";

type Manage = Pick<
  ReturnType<typeof createManageAccounts>,
  "ensureFirstKey" | "isKeptKeyGood" | "createConsoleLink"
>;

/** What the person who starts a new service needs to sign in; at later starts only whether a key that still waits works. */
export async function makeFirst(
  manage: Manage,
  config: Config,
  { firstKeyKeeper, wantsConsoleLink }: AppOverrides,
) {
  const firstKey = (await manage.ensureFirstKey(firstKeyKeeper))?.key;
  const isKeptKeyGood =
    firstKey !== undefined || firstKeyKeeper === undefined || (await manage.isKeptKeyGood(firstKeyKeeper));
  const isLinked = wantsConsoleLink === true && config.console && firstKey !== undefined;
  const consoleSecret = isLinked ? (await manage.createConsoleLink()).secret : undefined;
  return { firstKey, isKeptKeyGood, consoleSecret };
}
