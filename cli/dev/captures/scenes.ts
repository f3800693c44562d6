/** Something that is typed, and what it prints. */
export interface Step {
  readonly type: string;
  /** What the screen shows when the command is ready; it goes on until the end. Absent: the command ends by itself. */
  readonly until?: RegExp;
}

/** What one capture shows. */
export interface Scene {
  /** Of its files. */
  readonly name: string;
  /** Of its window. */
  readonly title: string;
  readonly columns: number;
  readonly steps: readonly Step[];
}

const JSON_REQUEST = `-H "Authorization: Bearer $SVC_API_KEY" -H 'Content-Type: application/json'`;

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
        type: `svc task submit -m sandbox-image -p "a lighthouse at dusk" -i seed=2 -i aspect_ratio=16:9 -o lighthouse.png`,
      },
      { type: "svc task list" },
    ],
  },
];
