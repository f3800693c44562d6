import type { Config } from "../config/config.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { createManageAccounts } from "../service/manage-account.ts";
import { createReadTrail } from "../service/read-trail.ts";
import { type SecretKeys, sealOf } from "./data-folder.ts";
import { localActor } from "./local-actor.ts";
import type { LocalSettings } from "./local-models.ts";
import { openLocalStore, type Stored } from "./local-store.ts";

/** The accounts, keys and prices of a data folder, whether or not a server runs on it. */
export type Local = Awaited<ReturnType<typeof openLocal>>;

/**
 * Opens a data folder for a local command.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function openLocal(
  config: SecretKeys & Stored & LocalSettings & Partial<Pick<Config, "assets">>,
) {
  const clock = createSystemClock();
  const ids = createIds(clock);
  const { books, all, stop } = await openLocalStore(config, { ids, seal: sealOf(config) });
  const manage = createManageAccounts({
    actor: localActor(),
    accounts: books.accounts,
    get sessions() {
      return books.sessions;
    },
    get usage() {
      return books.usage;
    },
    get charges() {
      return books.usage;
    },
    ...{ clock, ids, checks: config.moderation?.checks.map(({ name }) => name) ?? [] },
    addresses: createAddresses(),
    secrets: createSecrets(),
  });
  /** Loaded late, because most commands handle keys and accounts, and this contains most of the service. */
  const open = async () => {
    const { createLocalModels } = await import("./local-models.ts");
    const { createLocalAssets } = await import("./local-assets.ts");
    const store = await all();
    return {
      ...createLocalModels(store, config, clock),
      assets: () => createLocalAssets(store, config, clock),
    };
  };
  let opening: ReturnType<typeof open> | undefined;
  const others = () => {
    opening ??= open();
    return opening;
  };
  return {
    manage,
    /** Who changed what. */
    trail: createReadTrail({
      accounts: books.accounts,
      get trail() {
        return books.trail;
      },
    }),
    /** @throws ConfigError when the prices of the settings file cannot be used */
    prices: async () => (await others()).prices(),
    /** Says what each model lacks, by these settings. @throws ConfigError as `prices` does */
    models: async () => (await others()).models(),
    modelProblems: async () => (await others()).modelProblems(),
    /** A running server sends the requested redeliveries within a second. Listeners on it are not informed. */
    callbacks: async () => (await others()).callbacks(),
    /** @throws AppError `not_found` */
    trace: async (id: string) => (await others()).trace(id),
    /** The stored files, and what goes with them. */
    assets: async () => (await others()).assets(),
    stop,
  };
}
