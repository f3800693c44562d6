import type { Role } from "../../api/session.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { durationText } from "../../parts/duration.ts";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { LongText } from "../../parts/long-text.tsx";
import { Money } from "../../parts/money.tsx";
import { Preview } from "../../parts/preview.tsx";
import { sizeText } from "../../parts/size.ts";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { hrefOf, query } from "../../shell/router.ts";
import { Family } from "../task/family.tsx";
import type { Trace } from "../task/read.ts";
import { Actions } from "./actions.tsx";

interface Props {
  readonly role: Role;
  readonly trace: Trace;
  /** Place among the results. */
  readonly index: number;
  readonly onDeleted: () => void;
}

/** What a result was made of and what can be done with it. */
export function About({ role, trace, index, onDeleted }: Props) {
  const { task, assets } = trace;
  const asset = assets.find((each) => each.role === "output" && each.index === index);
  const { prompt, parameters } = task.request;
  return (
    <div class="flex flex-col gap-4">
      <h2 class="text-lg font-semibold break-words">{task.model}</h2>
      {prompt !== undefined && prompt !== "" && <LongText label="Prompt" text={prompt} />}
      <Actions role={role} task={task} index={index} url={asset?.url} onDeleted={onDeleted} />
      <Facts
        facts={[
          ["Status", <Status key="status" word={task.status} />],
          ["Size", asset?.width && `${asset.width} × ${asset.height}`],
          ["Length", asset?.duration_ms && durationText(asset.duration_ms)],
          ["File", asset && `${asset.media_type}, ${sizeText(asset.size_bytes)}`],
          ["Made", <Time key="made" at={task.created_at} />],
          ["Cost", task.usage && <Money key="cost" amount={task.usage.cost} />],
          ["Account", task.account?.name],
          ["Key", task.key.name],
          ["Provider", task.provider],
          [
            "Task",
            <Link key="task" href={hrefOf("tasks", task.task_id)}>
              …{task.task_id.slice(-8)}
            </Link>,
          ],
        ]}
      />
      <Inputs trace={trace} />
      <Family role={role} task={task} hrefFor={inViewer} />
      {Object.keys(parameters).length > 0 && (
        <div class="flex flex-col gap-2">
          <h3 class="text-sm font-semibold">Settings</h3>
          <CodeBlock label="Settings" text={JSON.stringify(parameters, null, 2)} />
        </div>
      )}
    </div>
  );
}

/** A member of the family in the viewer. */
const inViewer = (id: string) => hrefOf("gallery", "", { ...query.peek(), view: `${id}.0` });

/** The files it was made from, where there were some. */
function Inputs({ trace: { task, assets } }: { readonly trace: Trace }) {
  const inputs = assets.filter((each) => each.role === "input");
  if (inputs.length === 0) return null;
  return (
    <div class="flex flex-col gap-2">
      <h3 class="text-sm font-semibold">Made from</h3>
      <ul class="flex flex-wrap gap-2">
        {inputs.map(({ id, url, media_type, index }) => {
          const field = task.request.inputs[index]?.field ?? "input";
          return (
            <li key={id} class="flex w-24 flex-col gap-1 text-xs text-soft">
              {media_type.startsWith("audio/") ? (
                <span class="flex size-24 items-center justify-center rounded bg-sunk">sound</span>
              ) : (
                <Preview
                  url={url}
                  isVideo={media_type.startsWith("video/")}
                  width={160}
                  alt={`Input ${index + 1}`}
                  look="size-24 rounded bg-sunk object-cover"
                />
              )}
              <span class="truncate" title={field}>
                {field}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
