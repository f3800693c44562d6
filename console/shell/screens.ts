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
    name: "tasks",
    title: "Tasks",
    roles: ["tenant", "operator"],
    key: "t",
    load: () => import("../screens/tasks/screen.tsx"),
    loadItem: () => import("../screens/task/screen.tsx"),
  },
];

export function screensOf(role: Role): ScreenEntry[] {
  return SCREENS.filter(({ roles }) => roles.includes(role));
}
