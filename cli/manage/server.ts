import { type AdminCalls, HARMLESS, segment } from "../client/admin.ts";
import { toModel } from "../client/model.ts";
import { countIn, objectsIn, optionalTextIn } from "./fields.ts";
import type { Place } from "./port.ts";
import { createRemoteFiles } from "./remote-files.ts";
import { createRemoteManage } from "./remote-manage.ts";
import { createRemotePrices } from "./remote-prices.ts";

/** A server, through its management API. */
export function openServer(calls: AdminCalls): Place {
  const { server } = calls;
  return {
    manage: createRemoteManage(calls),
    at: `on ${server}`,
    origin: server,
    prices: async () => createRemotePrices(calls),
    models: async () => objectsIn(await calls.get("/models"), "models").map(toModel),
    async trail(query) {
      const page = await calls.get("/audit-log", query);
      return { entries: objectsIn(page, "entries"), next: optionalTextIn(page, "next") ?? null };
    },
    files: async () => createRemoteFiles(calls),
    async purge(account, onTask) {
      for (let tasks = 0; ; ) {
        const path = `/accounts/${segment(account)}/purge`;
        const form = await calls.send("POST", path, { confirm: account }, HARMLESS);
        tasks += countIn(form, "tasks");
        if (form.status === "live") return form;
        onTask(tasks);
        if (form.status !== "more") return { ...form, tasks };
      }
    },
    stop: async () => {},
  };
}
