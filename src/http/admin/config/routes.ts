import type { JsonObject } from "../../../domain/json.ts";
import { type ShownSetting, settingForm } from "../../../toolkit/settings/shown.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { READ_SETTINGS } from "./wire.ts";

/** GET /admin/v1/config. */
export function settingEndpoints(deps: { readonly settings: () => readonly ShownSetting[] }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/config", READ_SETTINGS, async () =>
      // A setting holds what svc.yaml may hold, which is JSON.
      success({ settings: deps.settings().map(settingForm) } as JsonObject),
    ),
  ];
}
