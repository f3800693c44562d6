import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { Operator } from "../domain/access/actor.ts";
import { AppError, mustBe } from "../domain/errors.ts";
import type { LaneId, ProviderId } from "../domain/ids.ts";
import { isAccountName, laneOf } from "../domain/lane.ts";
import type { KeepProviderKeys } from "../http/admin/providers/routes.ts";
import { forgetKey, keepKey } from "../runtime/kept-keys.ts";
import type { NoteChange } from "../service/note-change.ts";
import { sealOf } from "./data-folder.ts";
import type { SecretName } from "./kept-accounts.ts";
import type { createReload } from "./live/reload.ts";
import { keptKeyOf } from "./settings.ts";

interface ServedKeysDeps {
  readonly config: Config;
  readonly noteChange: NoteChange;
  readonly reload: ReturnType<typeof createReload> | undefined;
}

/** Keys of providers' accounts that a running server stores and uses at once. */
export function createServedKeys({ config, noteChange, reload }: ServedKeysDeps): KeepProviderKeys {
  /** If other settings cannot be used, the stored keys take effect at the next start. */
  const takeUp = async () => (await reload?.reload())?.isInForce === true;
  return {
    async add(operator, { provider, account, secrets }) {
      const lane = laneTo(provider, account);
      const kept = checkSecrets(await kindsOf(provider, config), secrets);
      const after = { secrets: Object.keys(kept) };
      await noteChange(operator, { action: "provider.add", object: objectOf(lane), after });
      keepKey(keptKeyOf(config.dataDir, lane), sealOf(config), kept);
      return { lane, isInForce: await takeUp() };
    },
    async remove(operator: Operator, { provider, account }) {
      await kindsOf(provider, config);
      const lane = laneTo(provider, account);
      const key = keptKeyOf(config.dataDir, lane);
      if (!existsSync(key.path))
        throw new AppError("not_found", { kind: "unknown", what: "key", given: lane, near: undefined });
      const before = { kept: true };
      await noteChange(operator, { action: "provider.remove", object: objectOf(lane), before });
      forgetKey(key);
      return { lane, isInForce: await takeUp() };
    },
  };
}

const objectOf = (lane: LaneId) => ({ kind: "provider", id: lane }) as const;

function laneTo(provider: string, account: string): LaneId {
  if (isAccountName(account)) return laneOf(provider as ProviderId, account);
  throw mustBe("account", { rule: "have up to 32 lower-case letters, digits, - and _" }, account);
}

/** @throws AppError `not_found` for a provider that there is not */
async function kindsOf(id: string, config: Config): Promise<readonly (readonly SecretName[])[]> {
  const { findKeyedProvider } = await import("./kept-accounts.ts");
  const found = await findKeyedProvider(id, config);
  if ("nearest" in found)
    throw new AppError("not_found", { kind: "unknown", what: "provider", given: id, near: found.nearest });
  return found.kinds;
}

/** The refusals contain nothing of the input, which may be a key with a typing error. */
function checkSecrets(
  kinds: readonly (readonly SecretName[])[],
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = Object.keys(given).sort().join();
  const kind = kinds.find(
    (each) =>
      each
        .map(({ name }) => name)
        .sort()
        .join() === names,
  );
  if (kind === undefined) {
    const wanted = kinds.map((each) => each.map(({ name }) => name).join(" and ")).join(", or ");
    throw mustBe("secrets", {
      rule: wanted === "" ? "be absent: this provider has no key" : `hold ${wanted}`,
    });
  }
  return Object.fromEntries(
    kind.map(({ name, parse }) => {
      const parsed = parse(given[name]);
      if (parsed.ok) return [name, parsed.value];
      throw mustBe(`secrets.${name}`, { rule: `be ${parsed.expected}` });
    }),
  );
}
