import type { Role } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { areKeysShown, GENERAL_KEYS, plainKeys } from "./keys.ts";
import { screensOf } from "./screens.ts";

export function KeysDialog({ role }: { readonly role: Role }) {
  if (!areKeysShown.value) return null;
  const rows = [
    ...GENERAL_KEYS,
    ...screensOf(role).map(({ key, title }) => [`g  ${key}`, `Go to ${title}`] as const),
  ];
  const isOn = plainKeys.value === "on";
  return (
    <Dialog title="Shortcuts" onClose={() => (areKeysShown.value = false)}>
      <dl class="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-5 gap-y-2">
        {rows.map(([keys, what]) => (
          <div key={keys} class="contents">
            <dt class="flex gap-1">
              {keys.split("  ").map((key) => (
                <kbd key={key} class="rounded border border-line bg-sunk px-1.5 font-mono text-sm">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="mt-4">
        <Button aria-pressed={isOn} onClick={() => (plainKeys.value = isOn ? "off" : "on")}>
          {isOn ? "Switch these keys off" : "Switch these keys on"}
        </Button>
      </div>
    </Dialog>
  );
}
