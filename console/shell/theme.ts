import { effect, signal } from "@preact/signals";
import { stored } from "./stored.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const theme = stored<Theme>("theme", THEMES, "system");

export function startTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isSystemDark = signal(system.matches);
  system.addEventListener("change", ({ matches }) => {
    isSystemDark.value = matches;
  });
  effect(() => {
    const ofSystem = isSystemDark.value ? "dark" : "light";
    document.documentElement.dataset.theme = theme.value === "system" ? ofSystem : theme.value;
  });
}
