import { ONE } from "../../domain/money/multiplier.ts";
import { multiplierOf } from "../amounts.ts";
import { objectOf, type Row, textOf, textsOf } from "../fields.ts";
import { type OneApiRows, SPECIAL_GROUPS } from "./rows.ts";

/** What one pays in a group, as a factor on prices. */
export interface GroupPrice {
  /** Millionths. */
  readonly multiplier: number;
  /** How it differs from what it was. */
  readonly note?: string | undefined;
}

/** Groups of users and of channels. */
export interface Groups {
  /** The group that a user is in. */
  readonly ofUser: (user: Row | undefined) => string;
  /** The groups whose channels a token uses, the first one first; none where its user may use none of them. */
  readonly ofToken: (token: Row, user: Row | undefined) => readonly string[];
  /** What members of a group pay for channels of one. */
  readonly price: (userGroup: string, group: string) => GroupPrice;
}

/** The group of whom and what is in none. */
export const USUAL_GROUP = "default";
/** A token's group that stands for a list of them. */
const AUTO = "auto";

/** The groups that everybody may choose, unless an option says otherwise (setting/user_usable_group.go, read 2026-11). */
const USUALLY_USABLE = [USUAL_GROUP, "vip"];
/** The groups that have a ratio, unless an option says otherwise (setting/ratio_setting/group_ratio.go, read 2026-11). */
const USUALLY_RATED = [...USUALLY_USABLE, "svip"];

type MapIn = (name: string) => Readonly<Record<string, unknown>>;

/** The groups that a user's tokens may be in: what everybody may choose, with what is added and removed for the user's group. */
function usableBy(userGroup: string, options: OneApiRows["options"], mapIn: MapIn): ReadonlySet<string> {
  // An option without groups means that nobody may choose one.
  const usable = new Set(
    options.has("UserUsableGroups") ? Object.keys(mapIn("UserUsableGroups")) : USUALLY_USABLE,
  );
  for (const special of Object.keys(objectOf(mapIn(SPECIAL_GROUPS)[userGroup]))) {
    const [, sign, group = ""] = /^([+-]:)?(.*)$/s.exec(special) ?? [];
    if (sign === "-:") usable.delete(group);
    else usable.add(group);
  }
  return usable.add(userGroup);
}

/** Reads the options about groups (setting/ratio_setting/group_ratio.go and setting/auto_group.go of new-api, read 2026-11). */
export function groupsOf(options: OneApiRows["options"], mapIn: MapIn): Groups {
  const ratios = mapIn("GroupRatio");
  const rated = new Set(options.has("GroupRatio") ? Object.keys(ratios) : USUALLY_RATED);
  const special = mapIn("GroupGroupRatio");
  const listed = textsOf(options.get("AutoGroups"));
  const auto = listed.length === 0 ? [USUAL_GROUP] : listed;
  const ofUser = (user: Row | undefined) => textOf(user?.group) ?? USUAL_GROUP;
  return {
    ofUser,
    ofToken(token, user) {
      const own = textOf(token.group);
      if (own === undefined) return [ofUser(user)];
      const usable = usableBy(ofUser(user), options, mapIn);
      if (own === AUTO) return auto.filter((group) => usable.has(group));
      // A token's group that has no ratio any more is refused there.
      return usable.has(own) && rated.has(own) ? [own] : [];
    },
    price(userGroup, group) {
      const ratio = objectOf(special[userGroup])[group] ?? ratios[group] ?? 1;
      const multiplier = multiplierOf(ratio);
      if (multiplier !== undefined) return { multiplier };
      const note = `the ratio ${String(ratio)} of its group is none that there is here: it pays prices in full`;
      return { multiplier: ONE, note };
    },
  };
}
