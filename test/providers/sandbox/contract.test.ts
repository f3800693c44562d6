import { describeProvider, type RehearsedKind } from "../../contracts/provider.ts";
import { openSandbox, type Submission } from "./harness.ts";

const SUBMISSIONS: Readonly<Record<RehearsedKind, Submission>> = {
  done: { n: 2 },
  failing: { parameters: { sandbox: { outcome: "failed" } } },
  busy: { parameters: { sandbox: { fail_times: 1 } } },
  endless: { parameters: { sandbox: { outcome: "hang" } } },
};

describeProvider("sandbox", async () => {
  const sandbox = await openSandbox();
  return {
    provider: sandbox.provider,
    request: (kind) => sandbox.submission(SUBMISSIONS[kind]),
    advance: sandbox.advance,
    restart: sandbox.restart,
    stop: sandbox.stop,
  };
});
