import type { ProviderId } from "../../domain/ids.ts";
import { keyOrPem } from "../../toolkit/settings/parsers.ts";
import type { SettingTable, ValuesOf } from "../../toolkit/settings/setting.ts";
import type { ProviderDefinition } from "../definition.ts";
import { accountSettings, withSettings } from "../kit/account-settings.ts";
import { builtInHeads } from "./built-in.ts" with { type: "macro" };
import type { Head } from "./head.ts";
import type { LoadedForm } from "./loaded.ts";

/** The providers whose forms come along. */
export const DECLARED: readonly ProviderDefinition[] = builtInHeads().map((head) =>
  defineDeclared(head, async () => {
    const { loadBuiltIn } = await import("./forms.ts");
    return loadBuiltIn(head.id);
  }),
);

/** A provider that a form describes. @param load reads the form when an account of it is made */
export function defineDeclared(head: Head, load: () => Promise<LoadedForm>): ProviderDefinition {
  const { id, title, base, regions, concurrency, kinds, isKeyless, hasPrivateKey } = head;
  const [first = {}] = kinds;
  let table: ReturnType<typeof accountSettings> | undefined;
  // A start asks several times.
  const settings = () => {
    table ??= accountSettings({
      ...{ id, title, base, regions, concurrency, isOwnEngine: isKeyless },
      variables: Object.assign({}, ...kinds) as Record<string, string>,
      parseSecret: hasPrivateKey ? keyOrPem : undefined,
    });
    return table;
  };
  const isMoved = (values: ValuesOf<SettingTable>) => values.baseUrl !== undefined;
  return {
    // Forms are where ids of declared providers come from.
    id: id as ProviderId,
    title,
    settings,
    kinds: [...kinds.map((kind) => Object.keys(kind)), ...(isKeyless ? [[]] : [])],
    isKeyless: (values) => isKeyless && isMoved(values),
    needs(values = {}) {
      const has = (kind: Readonly<Record<string, string>>) =>
        Object.keys(kind).every((name) => values[name] !== undefined);
      if (isKeyless) return isMoved(values) ? [] : [`providers.${id}.base_url`];
      return kinds.some(has)
        ? []
        : Object.entries(first).flatMap(([name, variable]) => (values[name] === undefined ? [variable] : []));
    },
    async create(account, values, { clock, usedForms, fetchPublic, log, network }) {
      const { createDeclaredProvider } = await import("./adapter.ts");
      const { createTellWord } = await import("./unknown-words.ts");
      const form = await load();
      // They were read by this declaration's table.
      const own = values as ValuesOf<ReturnType<typeof settings>>;
      return createDeclaredProvider({
        ...{ id: id as ProviderId, form, clock, fetchPublic, network },
        used: await usedForms(),
        onUnknownWord: createTellWord(id, log),
        account: withSettings(account, own),
        isRepeatSafe: own.restarts === "safe",
      });
    },
  };
}
