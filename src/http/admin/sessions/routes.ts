import { consoleLink, sessionForm } from "../../../domain/access/console-session.ts";
import type { ManageAs } from "../../../service/manage-account.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { SESSIONS } from "./wire.ts";

/** /admin/v1/sessions: browsers at the console, and links to it. */
export function managedSessionEndpoints({ manageAs }: { readonly manageAs: ManageAs }): Endpoint[] {
  return [
    managed("GET", "/admin/v1/sessions", SESSIONS.list, async ({ operator }) =>
      success({ sessions: (await manageAs(operator).listSessions()).map(sessionForm) }),
    ),
    managed("POST", "/admin/v1/sessions", SESSIONS.create, async ({ operator, origin }) => {
      const { secret, session } = await manageAs(operator).createConsoleLink();
      return success({ ...sessionForm(session), url: consoleLink(origin, secret) });
    }),
    managed("POST", "/admin/v1/sessions/:id/end", SESSIONS.end, async ({ operator, param }) => {
      await manageAs(operator).endSession(param("id"));
      return success({ id: param("id") });
    }),
  ];
}
