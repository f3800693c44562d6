import { ApiProblem } from "../api/problem.ts";
import { Button } from "./button.tsx";

/** What the reader can do about an error, by its code; nothing where the message says all. */
const ADVICE: Readonly<Record<string, string>> = {
  unreachable:
    "Check that the service runs and that this machine has a network. What is shown stays; it is read anew as soon as the service answers.",
  permission_denied: "Whoever manages this service can give the key or the token what it lacks.",
  rate_limit_exceeded: "Wait a moment, then try again.",
  service_unavailable:
    "The service cannot store anything at the moment. It goes on by itself; try again soon.",
  internal_error: "This is a defect of the service. Its log has more under the request id.",
};

/** An error where its answer would have been: what went wrong, what to do, and the request id for whoever reads the log. */
export function Trouble({ problem, again }: { readonly problem: unknown; readonly again?: () => void }) {
  const known = problem instanceof ApiProblem ? problem : undefined;
  const message = problem instanceof Error ? problem.message : String(problem);
  const advice = known === undefined ? undefined : ADVICE[known.code];
  return (
    <div role="alert" class="rounded-xl border border-bad bg-card p-4">
      <p class="font-medium break-words text-bad">{message}</p>
      {advice !== undefined && <p class="mt-1 text-soft">{advice}</p>}
      {known?.requestId !== undefined && (
        <p class="mt-1 text-sm text-soft">
          Request <code class="font-mono break-all">{known.requestId}</code>
        </p>
      )}
      {again !== undefined && (
        <div class="mt-3">
          <Button onClick={again}>Try again</Button>
        </div>
      )}
    </div>
  );
}
