import { effect } from "@preact/signals";
import { stored } from "./stored.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const theme = stored<Theme>("theme", THEMES, "system");

export function startTheme(): void {
  effect(() => {
    const { dataset } = document.documentElement;
    if (theme.value === "system") delete dataset.theme;
    else dataset.theme = theme.value;
  });
}
