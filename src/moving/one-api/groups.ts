import { ONE } from "../../domain/money/multiplier.ts";
import { multiplierOf } from "../amounts.ts";
import { objectOf, type Row, textOf, textsOf } from "../fields.ts";
import type { OneApiRows } from "./rows.ts";

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
  /** The groups whose channels a token uses, the first one first. */
  readonly ofToken: (token: Row, user: Row | undefined) => readonly string[];
  /** What members of a group pay for channels of one. */
  readonly price: (userGroup: string, group: string) => GroupPrice;
}

/** The group of whom and what is in none. */
export const USUAL_GROUP = "default";
/** A token's group that stands for a list of them. */
const AUTO = "auto";

/** Reads the options about groups (setting/ratio_setting/group_ratio.go and setting/auto_group.go of new-api, read 2026-11). */
export function groupsOf(
  options: OneApiRows["options"],
  mapIn: (name: string) => Readonly<Record<string, unknown>>,
): Groups {
  const ratios = mapIn("GroupRatio");
  const special = mapIn("GroupGroupRatio");
  const listed = textsOf(options.get("AutoGroups"));
  const auto = listed.length === 0 ? [USUAL_GROUP] : listed;
  const ofUser = (user: Row | undefined) => textOf(user?.group) ?? USUAL_GROUP;
  return {
    ofUser,
    ofToken(token, user) {
      const own = textOf(token.group);
      return own === AUTO ? auto : [own ?? ofUser(user)];
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
