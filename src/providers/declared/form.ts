import type { Wording } from "../../domain/model/wording.ts";

/** A form as its file has it, in the shape that `form.schema.json` gives it. Texts may hold `${…}` where docs/providers.md says so. */
export interface Form extends Flow {
  readonly provider: string;
  readonly form: 1;
  readonly title?: string;
  readonly replaces?: boolean;
  readonly base: string;
  readonly regions?: Readonly<Record<string, string>>;
  readonly origins?: readonly string[];
  readonly media?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** A list where there are several kinds of account. */
  readonly auth: AuthForm | readonly AuthForm[];
  readonly limits?: LimitsForm;
  /** Beginnings of what the upstream would read as orders in a text of a caller. */
  readonly prompt_escapes?: readonly string[];
  /** Requests that the upstream would silently change. */
  readonly refuses?: readonly { readonly if: string; readonly because: string }[];
  readonly test?: TestForm;
  readonly envelope?: { readonly ok: string };
  readonly refusals?: RefusalsForm;
  readonly webhook?: WebhookForm;
  readonly tables?: Readonly<Record<string, unknown>>;
  readonly prepare?: readonly PrepareForm[];
  readonly flows?: Readonly<Record<string, NamedFlow>>;
  readonly examples?: readonly ExampleForm[];
}

/** One way to have something made: one call, or a submission and questions. */
export interface Flow {
  readonly submit?: SubmitForm;
  readonly poll?: PollForm;
  readonly result?: ResultForm;
  readonly cancel?: CancelForm;
  readonly recover?: RecoverForm;
}

export interface NamedFlow extends Flow {
  /** Absent: every request. */
  readonly when?: string;
  /** In place of the form's own. */
  readonly prepare?: readonly PrepareForm[];
}

/** The most that a form may be, as text. The largest that is known has 20 KB. */
export const FORM_BYTES = 128 * 1024;

export const METHODS = ["get", "post", "put", "patch", "delete"] as const;
export type Method = (typeof METHODS)[number];

/** A call: one method with its path, and one kind of body at most. */
export interface CallForm {
  readonly get?: string;
  readonly post?: string;
  readonly put?: string;
  readonly patch?: string;
  readonly delete?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly multipart?: Readonly<Record<string, unknown>>;
}

export interface MadeForm {
  readonly outputs?: OutputsForm;
  readonly usage?: { readonly input_tokens?: string; readonly output_tokens?: string };
  readonly cost?: { readonly amount: string; readonly unit_usd: number };
}

export interface OutputsForm {
  readonly url?: string;
  readonly base64?: string;
  readonly bytes?: true;
  readonly each?: string;
  readonly missing?: string;
  /** `1024x768`: a picture of any other size is no result. */
  readonly size?: string;
}

export interface SubmitForm extends CallForm, MadeForm {
  readonly inline?: Readonly<Record<string, string>>;
  /** The header that carries the attempt's id. */
  readonly idempotent?: string;
  readonly operation?: Readonly<Record<string, string>>;
  readonly poll_after?: string;
}

export interface ReadForm extends CallForm, MadeForm {
  readonly answers?: readonly number[];
  readonly status?: string;
  readonly words?: Readonly<Record<string, WordForm>>;
  readonly code?: string;
  readonly message?: string;
}

export interface PollForm extends ReadForm {
  readonly status: string;
  readonly words: Readonly<Record<string, WordForm>>;
  readonly progress?: string;
  readonly poll_after?: string;
}

export type ResultForm = ReadForm;

export type WordForm =
  | "pending"
  | "succeeded"
  | "cancelled"
  | { readonly failed: string; readonly charged?: boolean | string }
  | { readonly lost_after_seconds: number };

export interface CancelForm extends CallForm {
  /** Words of the status in which it is safe. The status is asked first then. */
  readonly while?: readonly string[];
}

export interface RecoverForm extends CallForm {
  readonly found: string | Readonly<Record<string, string>>;
  readonly absent_when: RuleForm;
}

/** All that are given must hold. */
export interface RuleForm {
  readonly status?: number | readonly number[];
  readonly code?: Scalar | readonly Scalar[];
  readonly if?: string;
}
type Scalar = string | number;

/** How an upstream signs its calls: by one of the two. */
export interface WebhookForm {
  /** The names of headers; `keys` is an address. */
  readonly ed25519?: {
    readonly keys: string;
    readonly signed: readonly string[];
    readonly signature: string;
  };
  /** The call that gives the secret of Standard Webhooks. */
  readonly standard?: CallForm & { readonly secret: string };
}

export interface RefusalsForm {
  readonly code?: string;
  readonly message?: string;
  readonly retry_after?: string;
  readonly when?: readonly (RuleForm & { readonly means: string })[];
}

export interface PrepareForm extends CallForm {
  readonly roles: readonly string[];
  readonly bytes?: true;
  readonly gives: Readonly<Record<string, string>>;
  readonly lifetime_seconds?: number;
}

export interface LimitsForm {
  readonly under_way?: number;
  readonly submits?: string;
  readonly polls?: string;
  /** Whether the upstream counts the submissions of each model by themselves. */
  readonly by_model?: boolean;
  readonly connect_seconds?: number;
  readonly answer_seconds?: number;
  readonly body_seconds?: number;
  readonly answer_mb?: number;
}

export interface TestForm extends CallForm {
  readonly ok?: string;
  readonly balance?: string;
  readonly unit_usd?: number;
}

export interface AuthForm {
  readonly key_env?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where the key, or the token made from it, is sent; the header is `Authorization` unless given. */
  readonly header?: string;
  readonly query?: string;
  readonly value?: string;
  readonly send?: string;
  readonly none?: true;
  readonly basic?: { readonly user: string; readonly password: string };
  readonly jwt?: JwtForm;
  readonly oauth?: OAuthForm;
  readonly token?: CallForm & { readonly value: string; readonly expires_in?: string };
  readonly aws_sigv4?: SignForm;
  readonly volc_v4?: SignForm;
}

export interface JwtForm {
  readonly alg: "HS256" | "RS256";
  readonly key: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OAuthForm {
  readonly token_url: string;
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly scope?: string;
  /** A signed assertion (RFC 7523) in place of id and secret. */
  readonly assertion?: JwtForm;
}

export interface SignForm {
  readonly service: string;
  readonly region: string;
  readonly access_key: string;
  readonly secret_key: string;
  readonly session_token?: string;
}

/** A request, the answers of the upstream in order, and how it ends. */
export interface ExampleForm {
  readonly name: string;
  readonly request: {
    readonly model: string;
    readonly kind: "image" | "video";
    readonly mode: string;
    readonly prompt?: string;
    readonly params?: Readonly<Record<string, unknown>>;
    /** As the route of a model has it; `fields` follow from it. */
    readonly wording?: Wording;
    readonly n?: number;
    readonly inputs?: readonly string[];
  };
  readonly sends?: Readonly<Record<string, unknown>>;
  readonly answers: readonly {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  }[];
  readonly ends:
    | "succeeded"
    | "pending"
    | "cancelled"
    /** The upstream no longer has the job. */
    | "lost"
    | { readonly failed: string }
    | { readonly refused: string };
}
