import type { ComponentType } from "preact";
import type { Role } from "../api/session.ts";
import type { ScreenProps } from "./screen-props.ts";

/** A module of `console/screens/`. It is loaded when its screen is first shown. */
export interface ScreenModule {
  readonly Screen: ComponentType<ScreenProps>;
}

export interface ScreenEntry {
  /** In the address: `/console/tasks`. */
  readonly name: string;
  /** In the navigation. */
  readonly title: string;
  /** Who has it. */
  readonly roles: readonly Role[];
  /** `g` and this letter go there. */
  readonly key: string;
  readonly load: () => Promise<ScreenModule>;
  /** The screen of one thing, at `/console/tasks/<id>`, if there is one. */
  readonly loadItem?: () => Promise<ScreenModule>;
}

/** Every screen, in the order of the navigation. The first one that a role has is where it begins. */
export const SCREENS: readonly ScreenEntry[] = [
  {
    name: "playground",
    title: "Playground",
    roles: ["tenant"],
    key: "p",
    load: () => import("../screens/playground/screen.tsx"),
  },
  {
    name: "tasks",
    title: "Tasks",
    roles: ["tenant", "operator"],
    key: "t",
    load: () => import("../screens/tasks/screen.tsx"),
    loadItem: () => import("../screens/task/screen.tsx"),
  },
  {
    name: "live",
    title: "Live",
    roles: ["tenant", "operator"],
    key: "v",
    load: () => import("../screens/live/screen.tsx"),
  },
  {
    name: "groups",
    title: "Groups",
    roles: ["tenant"],
    key: "u",
    load: () => import("../screens/groups/screen.tsx"),
    loadItem: () => import("../screens/group/screen.tsx"),
  },
  {
    name: "gallery",
    title: "Gallery",
    roles: ["tenant", "operator"],
    key: "l",
    load: () => import("../screens/gallery/screen.tsx"),
  },
  {
    name: "callbacks",
    title: "Callbacks",
    roles: ["tenant", "operator"],
    key: "c",
    load: () => import("../screens/callbacks/screen.tsx"),
    loadItem: () => import("../screens/callback/screen.tsx"),
  },
  {
    name: "money",
    title: "Money",
    roles: ["tenant", "operator"],
    key: "m",
    load: () => import("../screens/money/screen.tsx"),
  },
  {
    name: "account",
    title: "Account",
    roles: ["tenant"],
    key: "i",
    load: () => import("../screens/own-account/screen.tsx"),
  },
  {
    name: "keys",
    title: "Keys",
    roles: ["operator"],
    key: "k",
    load: () => import("../screens/keys/screen.tsx"),
    loadItem: () => import("../screens/key/screen.tsx"),
  },
  {
    name: "accounts",
    title: "Accounts",
    roles: ["operator"],
    key: "a",
    load: () => import("../screens/accounts/screen.tsx"),
    loadItem: () => import("../screens/account/screen.tsx"),
  },
  {
    name: "providers",
    title: "Providers",
    roles: ["operator"],
    key: "r",
    load: () => import("../screens/providers/screen.tsx"),
    loadItem: () => import("../screens/provider/screen.tsx"),
  },
  {
    name: "models",
    title: "Models and prices",
    roles: ["operator"],
    key: "d",
    load: () => import("../screens/models/screen.tsx"),
    loadItem: () => import("../screens/model/screen.tsx"),
  },
  {
    name: "tokens",
    title: "Tokens and sessions",
    roles: ["operator"],
    key: "o",
    load: () => import("../screens/tokens/screen.tsx"),
  },
  {
    name: "changes",
    title: "Changes",
    roles: ["operator"],
    key: "w",
    load: () => import("../screens/changes/screen.tsx"),
  },
  {
    name: "health",
    title: "Health",
    roles: ["operator"],
    key: "h",
    load: () => import("../screens/health/screen.tsx"),
  },
  {
    name: "settings",
    title: "Settings",
    roles: ["operator"],
    key: "s",
    load: () => import("../screens/settings/screen.tsx"),
  },
];

export function screensOf(role: Role): ScreenEntry[] {
  return SCREENS.filter(({ roles }) => roles.includes(role));
}
