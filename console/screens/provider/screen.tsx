import { useEvery, useReading } from "../../api/use.ts";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { OneProvider } from "./one-provider.tsx";
import { readProvider } from "./read.ts";

const LOOK_AGAIN_MS = 10_000;

/** One provider. */
export function Screen({ item }: ScreenProps) {
  const reading = useReading(item, (signal) => readProvider(item, signal));
  const { data, problem, again } = reading;
  useEvery(LOOK_AGAIN_MS, reading);
  if (data !== undefined) return <OneProvider known={data} problem={problem} again={again} />;
  return (
    <Page title="Provider">
      <p>
        <Link href={hrefOf("providers")}>← All providers</Link>
      </p>
      {problem === undefined ? <Reading what="the provider" /> : <Trouble problem={problem} again={again} />}
    </Page>
  );
}
