/** Something that is typed, and what it prints. */
export interface Step {
  readonly type: string;
  /** What the screen shows when the command is ready; it goes on until the end. Absent: the command ends by itself. */
  readonly until?: RegExp;
  /** Keys that are pressed then, one group after the other, and what the screen shows of each. */
  readonly presses?: readonly { readonly keys: string; readonly until: RegExp }[];
  /** Prepares what the scene shows. Nobody sees it. */
  readonly isHidden?: true;
}

/** What one capture shows. */
export interface Scene {
  /** Of its files. */
  readonly name: string;
  /** Of its window. */
  readonly title: string;
  readonly columns: number;
  readonly rows?: number;
  readonly steps: readonly Step[];
}

const JSON_REQUEST = `-H "Authorization: Bearer $SVC_API_KEY" -H 'Content-Type: application/json'`;

/** Creates tasks without an end: most take a second or two, some fail. */
const LOAD: Step = {
  type: [
    `bash -c 'echo loading; for ((i = 0; ; i++)); do`,
    `  outcome=$([ $((i % 9)) = 8 ] && echo failed || echo completed)`,
    `  curl -s -o created.log http://127.0.0.1:8787/v1/images/generations ${JSON_REQUEST.replaceAll("'", '"')} \\`,
    `    -d "{\\"model\\": \\"sandbox-image\\", \\"prompt\\": \\"harbour $i at dusk\\", \\"sandbox\\":`,
    `      {\\"delay_ms\\": $((500 + i % 7 * 300)), \\"outcome\\": \\"$outcome\\"}}"`,
    `  sleep 0.1`,
    `done'`,
  ].join("\n"),
  until: /loading/,
  isHidden: true,
};

/** In the order they are played, in one folder. */
export const SCENES: readonly Scene[] = [
  {
    name: "serve",
    title: "The first start",
    columns: 110,
    // The last line of a start.
    steps: [{ type: "svc serve", until: /resumed_tasks=/ }],
  },
  {
    name: "first-request",
    title: "The first request",
    columns: 110,
    steps: [
      { type: "export SVC_API_KEY=$(svc keys create --name laptop --show-secret-only)" },
      {
        type: [
          `curl -s http://127.0.0.1:8787/v1/images/generations \\`,
          `  ${JSON_REQUEST} \\`,
          `  -d '{"model": "sandbox-image", "prompt": "a lighthouse at dusk", "seed": 2}' | tee created.json`,
        ].join("\n"),
      },
      {
        type: [
          `curl -s "http://127.0.0.1:8787/v1/images/status/$(grep -o 'task_0[0-9a-z]*' created.json)?wait=30" \\`,
          `  -H "Authorization: Bearer $SVC_API_KEY"`,
        ].join("\n"),
      },
    ],
  },
  {
    name: "operator",
    title: "Keys and accounts",
    columns: 110,
    steps: [
      { type: "svc accounts create acme --mode prepaid --credit 25.00" },
      {
        type: "svc keys create --name web --account acme --models 'sandbox-*' --rpm 60 --concurrency 4 --expires 90d",
      },
      { type: "svc keys list" },
      { type: "svc pricing list" },
    ],
  },
  {
    name: "developer",
    title: "Models and pictures",
    columns: 110,
    steps: [
      { type: "svc models list" },
      {
        type: `svc image "a lighthouse at dusk" -i seed=2 -i aspect_ratio=16:9`,
      },
      { type: "svc task list" },
    ],
  },
  {
    name: "top",
    title: "A server under load",
    columns: 110,
    rows: 14,
    steps: [
      {
        type: "export SVC_MANAGEMENT_TOKEN=$(svc tokens create --name console --field token)",
        isHidden: true,
      },
      LOAD,
      { type: "sleep 8", isHidden: true },
      // A few readings, so that its graphs have something to show.
      { type: "svc top --interval 500ms", until: /up 2\ds/ },
    ],
  },
  {
    name: "watch",
    title: "Tasks as they change",
    columns: 110,
    rows: 24,
    steps: [{ type: "svc task watch", until: /completed \d{2,}/ }],
  },
  {
    name: "watch-task",
    title: "One of them",
    // Room for it beside the table.
    columns: 130,
    rows: 36,
    steps: [
      {
        type: "svc task watch",
        until: /completed \d{2,}/,
        presses: [
          // The tasks that are completed, and the first of them.
          { keys: "4", until: /completed {3}█████ 100 %/ },
          { keys: "\r", until: /▀{20}/ },
        ],
      },
    ],
  },
];
