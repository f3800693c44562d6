import { useReading } from "../../api/use.ts";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { NewAccount } from "./new-account.tsx";
import { OneAccount } from "./one-account.tsx";
import { readAccount } from "./read.ts";

/** One account; `new` makes one. */
export function Screen({ item }: ScreenProps) {
  return item === "new" ? <NewAccount /> : <AccountPage id={item} />;
}

function AccountPage({ id }: { readonly id: string }) {
  const reading = useReading(id, (signal) => readAccount(id, signal));
  const { data, problem, again } = reading;
  if (data !== undefined)
    return (
      <OneAccount data={data} onChange={(account) => reading.change((before) => ({ ...before, account }))} />
    );
  return (
    <Page title="Account">
      <p>
        <Link href={hrefOf("accounts")}>← All accounts</Link>
      </p>
      {problem === undefined ? <Reading what="the account" /> : <Trouble problem={problem} again={again} />}
    </Page>
  );
}
