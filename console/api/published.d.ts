/* Written by `bun run console:types` from the service's own description. */

/** The components of the document. */
export interface Schemas {
  Account: {
    /** Id of the account. */
    id: string;
    /** What people call it. */
    name: string;
    /** Keys of a suspended account are refused. */
    status: "active" | "suspended";
    /** Of every amount beside it. */
    currency: "USD";
    /** Sum of the ledger. */
    balance: string;
    /** Held for tasks under way. */
    held: string;
    /** What new tasks may cost; null: any amount. */
    available: string | null;
    /** `unlimited` accounts are metered, and refused only beyond 8e9 USD owed. */
    mode: "prepaid" | "unlimited";
    /** How far below zero a prepaid account may go. */
    credit_limit: string;
    /** With less than this available, a warning is logged, once for each time; null: never. */
    low_balance: string | null;
    /** Prices are charged times this. */
    price_multiplier: string;
    /** How long the files of its tasks' results are kept after their end; null: as the server has it. */
    retain_outputs_seconds: number | null;
    /** How long the files of its tasks' inputs are kept after their end; null: as the server has it. */
    retain_inputs_seconds: number | null;
    /** How long its tasks' callbacks and their sends are kept after their end; null: as the server has it. */
    retain_callbacks_seconds: number | null;
    /** How long its tasks are kept, with everything but their money after their end; null: as the server has it. */
    retain_tasks_seconds: number | null;
    /** When it was made. Unix seconds. */
    created_at: number;
  };
  AccountStatus: {
    account: {
      /** Id of the account. */
      id: string;
      /** What the operator calls it. */
      name: string;
      /** One that is not active is refused before it gets here. */
      status: string;
    };
    key: {
      /** Id of the key. */
      id: string;
      /** What its owner calls it. */
      name: string;
      /** Its first characters and its last, to recognise it by. */
      prefix: string;
      /** A key that is not active is refused before it gets here. */
      status: string;
      /** When it ends; null: never. Unix seconds. */
      expires_at: number | null;
      permissions: {
        /** Patterns of model ids; null: all models. */
        models: readonly (string)[] | null;
        /** What it may do; null: everything. */
        features: readonly (string)[] | null;
      };
      /** Whether it may be used from some addresses only. */
      ip_restricted: boolean;
      quota: {
        /** What the key may spend; null: any amount. */
        limit: string | null;
        /** Charged in the period; ever, where there is no limit. */
        used: string | null;
        /** Of it, held for tasks under way. */
        reserved: string | null;
        /** Of it, left; null: any amount. */
        remaining: string | null;
        /** How often it begins anew. */
        reset: string | null;
        /** When it begins anew. Unix seconds. */
        resets_at: number | null;
      };
      /** Only limits that exist. */
      rate_limits: readonly ({
        /** What is counted. */
        metric: string;
        /** How many are allowed. */
        limit: number;
        /** In how long; null: at once. */
        window_seconds: number | null;
        /** How many are left. */
        remaining: number;
        /** When all of them are there again. Unix seconds. */
        resets_at: number | null;
      })[];
    };
    balance: {
      /** `unlimited` accounts are metered, and refused only beyond 8e9 USD owed. */
      mode: string;
      /** Of every amount beside it. */
      currency: "USD";
      /** Sum of everything credited and charged. */
      total: string;
      /** Held for tasks under way. */
      reserved: string;
      /** What new tasks may cost; null: any amount. */
      available: string | null;
      /** How far below zero the total may go, counted in `available`; null: any amount. */
      credit_limit: string | null;
    };
    /** Days and months in UTC. */
    usage: {
      today: {
        /** Tasks that ended. */
        tasks: number;
        /** Images and videos made. */
        outputs: number;
        /** What was charged. */
        cost: string;
        /** Of every amount beside it. */
        currency: "USD";
      };
      month: {
        /** Tasks that ended. */
        tasks: number;
        /** Images and videos made. */
        outputs: number;
        /** What was charged. */
        cost: string;
        /** Of every amount beside it. */
        currency: "USD";
      };
    };
    tasks: {
      /** Tasks waiting. */
      pending: number;
      /** Tasks under way. */
      processing: number;
    };
    /** Whether a task could be created now, if its price fits. */
    can_create: boolean;
    /** Why not: `balance`, `key_quota`, `concurrency`, `draining` and the like. */
    blocked_by: readonly (string)[];
    /** The server's clock. Unix seconds. */
    server_time: number;
  };
  ApiKey: {
    /** Id of the key. */
    id: string;
    /** What people call it. */
    name: string;
    /** The account it belongs to. */
    account_id: string;
    /** First and last characters, to recognise it by. */
    display: string;
    /** Only an active one is taken. */
    status: "active" | "expired" | "revoked";
    /** When it was made. Unix seconds. */
    created_at: number;
    /** When it was revoked. Unix seconds. */
    revoked_at: number | null;
    /** Whether its callbacks are signed. */
    signs_callbacks: boolean;
    /** The secret before the last rotation. */
    previous: {
      /** First and last characters, to recognise it by. */
      display: string;
      /** Until when it is taken. Unix seconds. */
      expires_at: number;
    } | null;
    /** From when on the key is refused; null: never. Unix seconds. */
    expires_at: number | null;
    /** Ids of models the key may use, * standing for any characters; null: all models. */
    models: readonly (string)[] | null;
    /** What the key may create; null: everything. */
    features: readonly ("images" | "videos" | "compat")[] | null;
    /** Addresses and ranges of them (CIDR) the key may be used from; null: any address. */
    allow_ips: readonly (string)[] | null;
    /** Creates, synchronous calls and redeliveries the key may ask for in a minute; null: any number. */
    requests_per_minute: number | null;
    /** Tasks of the key that may be live at once; null: any number. */
    concurrency: number | null;
    /** Other names for models, and the models' ids; null: none. */
    aliases: Record<string, string> | null;
    /** What the synchronous images API answers when a request does not say; null: as the server has it. */
    response_format: "b64_json" | "url" | null;
    /** Longest wait of a synchronous call, where shorter than the server's; null: the server's. */
    sync_wait_seconds: number | null;
    /** What the key may spend; null: any amount. */
    quota: {
      /** What the key may spend. */
      limit: string;
      /** When that begins anew, in UTC. */
      reset: "total" | "daily" | "weekly" | "monthly";
    } | null;
    /** How one of a model's routes is chosen when a request does not say; null: as the model has it. */
    route_policy: "ordered" | "weighted" | "cheapest" | "fastest" | "least_busy" | null;
    /** Whether a request may name the one route that it takes, by X-Route; null: it may not. */
    named_routes: "allowed" | null;
    /** How long the files of its tasks are kept after their end, and the most that a request may ask for; null: as the server has it. */
    retain_seconds: number | null;
    /** Names of the checks of content that its requests go through; an empty list: none; null: as the model or the server has it. */
    moderation: readonly (string)[] | null;
    /** Prices are charged times this; null: as the account's. */
    price_multiplier: string | null;
  };
  ApiKeyWithSecret: {
    /** Id of the key. */
    id: string;
    /** What people call it. */
    name: string;
    /** The account it belongs to. */
    account_id: string;
    /** First and last characters, to recognise it by. */
    display: string;
    /** Only an active one is taken. */
    status: "active" | "expired" | "revoked";
    /** When it was made. Unix seconds. */
    created_at: number;
    /** When it was revoked. Unix seconds. */
    revoked_at: number | null;
    /** Whether its callbacks are signed. */
    signs_callbacks: boolean;
    /** The secret before the last rotation. */
    previous: {
      /** First and last characters, to recognise it by. */
      display: string;
      /** Until when it is taken. Unix seconds. */
      expires_at: number;
    } | null;
    /** From when on the key is refused; null: never. Unix seconds. */
    expires_at: number | null;
    /** Ids of models the key may use, * standing for any characters; null: all models. */
    models: readonly (string)[] | null;
    /** What the key may create; null: everything. */
    features: readonly ("images" | "videos" | "compat")[] | null;
    /** Addresses and ranges of them (CIDR) the key may be used from; null: any address. */
    allow_ips: readonly (string)[] | null;
    /** Creates, synchronous calls and redeliveries the key may ask for in a minute; null: any number. */
    requests_per_minute: number | null;
    /** Tasks of the key that may be live at once; null: any number. */
    concurrency: number | null;
    /** Other names for models, and the models' ids; null: none. */
    aliases: Record<string, string> | null;
    /** What the synchronous images API answers when a request does not say; null: as the server has it. */
    response_format: "b64_json" | "url" | null;
    /** Longest wait of a synchronous call, where shorter than the server's; null: the server's. */
    sync_wait_seconds: number | null;
    /** What the key may spend; null: any amount. */
    quota: {
      /** What the key may spend. */
      limit: string;
      /** When that begins anew, in UTC. */
      reset: "total" | "daily" | "weekly" | "monthly";
    } | null;
    /** How one of a model's routes is chosen when a request does not say; null: as the model has it. */
    route_policy: "ordered" | "weighted" | "cheapest" | "fastest" | "least_busy" | null;
    /** Whether a request may name the one route that it takes, by X-Route; null: it may not. */
    named_routes: "allowed" | null;
    /** How long the files of its tasks are kept after their end, and the most that a request may ask for; null: as the server has it. */
    retain_seconds: number | null;
    /** Names of the checks of content that its requests go through; an empty list: none; null: as the model or the server has it. */
    moderation: readonly (string)[] | null;
    /** Prices are charged times this; null: as the account's. */
    price_multiplier: string | null;
    /** The key itself, shown this once. */
    key: string;
    /** Only where one was made: what callbacks are signed with, shown this once. */
    callback_secret?: string;
  };
  Audit: {
    /** Whether every figure is what it must be. */
    adds_up: boolean;
    /** How many checks were made. */
    checks: number;
    rows: {
      /** Accounts that were read. */
      accounts: number;
      /** Entries of their ledgers. */
      ledger_entries: number;
      /** Tasks. */
      tasks: number;
      /** Those of them that have not ended. */
      live_tasks: number;
      /** Periods of keys' quotas. */
      quotas: number;
      /** Days of usage. */
      usage_days: number;
    };
    sums: {
      /** Of every amount beside it. */
      currency: "USD";
      /** Credited, less what was taken off. */
      credited: string;
      /** Charged. */
      captured: string;
      /** Given back. */
      refunded: string;
      /** Of all accounts: credited, less captured, plus refunded. */
      balance: string;
      /** Held for live tasks. */
      held: string;
    };
    sealed: {
      /** As `depth` of the request. */
      depth: string;
      /** Tasks that an earlier audit has verified, of which no more than `depth` says was read. */
      tasks: number;
      /** Entries of ledgers of which the same is so. */
      ledger_entries: number;
    };
    /** The first difference of each check; empty when the books add up. */
    differences: readonly ({
      /** The check that failed. */
      check: string;
      /** What it says must be. */
      rule: string;
      /** The account. */
      account_id: string | null;
      /** The key. */
      key_id: string | null;
      /** The task. */
      task_id: string | null;
      /** The model. */
      model: string | null;
      /** First day of a quota's period, or a day of usage. */
      day: string | null;
      /** Number of an entry of the ledger; of a page, its first one. */
      ledger_entry: number | null;
      /** What is stored: an amount, a count, or the checksum of a page of rows. */
      stored: string | number;
      /** What it must be. */
      expected: string | number;
    })[];
  };
  Automatic1111AskedExtraBatch: {
    imageList: readonly (Schemas["Automatic1111File"])[];
    /** Id of a model that makes pictures larger: `upscalers` lists them. */
    upscaler_1?: string;
    upscaler_2?: string | null;
    /** The factor, for models that take one. */
    upscaling_resize?: number | null;
    upscaling_resize_w?: number | null;
    upscaling_resize_h?: number | null;
    resize_mode?: number | null;
    gfpgan_visibility?: number | null;
    codeformer_visibility?: number | null;
    extras_upscaler_2_visibility?: number | null;
  };
  Automatic1111AskedExtraSingle: {
    /** The file as base64, without a `data:` prefix. */
    image: string;
    /** Id of a model that makes pictures larger: `upscalers` lists them. */
    upscaler_1?: string;
    upscaler_2?: string | null;
    /** The factor, for models that take one. */
    upscaling_resize?: number | null;
    upscaling_resize_w?: number | null;
    upscaling_resize_h?: number | null;
    resize_mode?: number | null;
    gfpgan_visibility?: number | null;
    codeformer_visibility?: number | null;
    extras_upscaler_2_visibility?: number | null;
  };
  Automatic1111AskedImg2Img: {
    prompt?: string | null;
    negative_prompt?: string | null;
    sampler_name?: string | null;
    sampler_index?: string | null;
    scheduler?: string | null;
    script_name?: string | null;
    refiner_checkpoint?: string | null;
    firstpass_image?: string | null;
    force_task_id?: string | null;
    infotext?: string | null;
    hr_upscaler?: string | null;
    hr_checkpoint_name?: string | null;
    hr_sampler_name?: string | null;
    hr_scheduler?: string | null;
    hr_prompt?: string | null;
    hr_negative_prompt?: string | null;
    seed?: number | null;
    subseed?: number | null;
    seed_resize_from_h?: number | null;
    seed_resize_from_w?: number | null;
    clip_skip?: number | null;
    width?: number | null;
    height?: number | null;
    batch_size?: number | null;
    n_iter?: number | null;
    steps?: number | null;
    firstphase_width?: number | null;
    firstphase_height?: number | null;
    hr_second_pass_steps?: number | null;
    hr_resize_x?: number | null;
    hr_resize_y?: number | null;
    subseed_strength?: number | null;
    cfg_scale?: number | null;
    distilled_cfg_scale?: number | null;
    denoising_strength?: number | null;
    hr_scale?: number | null;
    refiner_switch_at?: number | null;
    eta?: number | null;
    s_churn?: number | null;
    s_tmax?: number | null;
    s_tmin?: number | null;
    s_noise?: number | null;
    s_min_uncond?: number | null;
    restore_faces?: boolean | null;
    tiling?: boolean | null;
    do_not_save_samples?: boolean | null;
    do_not_save_grid?: boolean | null;
    enable_hr?: boolean | null;
    send_images?: boolean | null;
    save_images?: boolean | null;
    override_settings_restore_afterwards?: boolean | null;
    disable_extra_networks?: boolean | null;
    override_settings?: Record<string, unknown> | null;
    alwayson_scripts?: Record<string, unknown> | null;
    comments?: Record<string, unknown> | null;
    styles?: readonly (unknown)[] | null;
    script_args?: readonly (unknown)[] | null;
    controlnet_units?: readonly (unknown)[] | null;
    init_images?: readonly (string)[] | null;
    mask?: string | null;
    latent_mask?: string | null;
    mask_blur?: number | number | null;
    mask_blur_x?: number | number | null;
    mask_blur_y?: number | number | null;
    resize_mode?: number | null;
    inpainting_fill?: number | null;
    inpaint_full_res_padding?: number | null;
    inpaint_full_res?: boolean | number | null;
    inpainting_mask_invert?: boolean | number | null;
    image_cfg_scale?: number | null;
    initial_noise_multiplier?: number | null;
    mask_round?: boolean | null;
    include_init_images?: boolean | null;
  };
  Automatic1111AskedOptions: {
    /** Id or alias of an image model, for the later requests of this key. */
    sd_model_checkpoint?: string | null;
  };
  Automatic1111AskedPngInfo: {
    /** The file as base64, without a `data:` prefix. */
    image: string;
  };
  Automatic1111AskedTaskQuestion: {
    /** `force_task_id` of the call. */
    id_task: string;
    live_preview?: boolean | null;
  };
  Automatic1111AskedTxt2Img: {
    prompt?: string | null;
    negative_prompt?: string | null;
    sampler_name?: string | null;
    sampler_index?: string | null;
    scheduler?: string | null;
    script_name?: string | null;
    refiner_checkpoint?: string | null;
    firstpass_image?: string | null;
    force_task_id?: string | null;
    infotext?: string | null;
    hr_upscaler?: string | null;
    hr_checkpoint_name?: string | null;
    hr_sampler_name?: string | null;
    hr_scheduler?: string | null;
    hr_prompt?: string | null;
    hr_negative_prompt?: string | null;
    seed?: number | null;
    subseed?: number | null;
    seed_resize_from_h?: number | null;
    seed_resize_from_w?: number | null;
    clip_skip?: number | null;
    width?: number | null;
    height?: number | null;
    batch_size?: number | null;
    n_iter?: number | null;
    steps?: number | null;
    firstphase_width?: number | null;
    firstphase_height?: number | null;
    hr_second_pass_steps?: number | null;
    hr_resize_x?: number | null;
    hr_resize_y?: number | null;
    subseed_strength?: number | null;
    cfg_scale?: number | null;
    distilled_cfg_scale?: number | null;
    denoising_strength?: number | null;
    hr_scale?: number | null;
    refiner_switch_at?: number | null;
    eta?: number | null;
    s_churn?: number | null;
    s_tmax?: number | null;
    s_tmin?: number | null;
    s_noise?: number | null;
    s_min_uncond?: number | null;
    restore_faces?: boolean | null;
    tiling?: boolean | null;
    do_not_save_samples?: boolean | null;
    do_not_save_grid?: boolean | null;
    enable_hr?: boolean | null;
    send_images?: boolean | null;
    save_images?: boolean | null;
    override_settings_restore_afterwards?: boolean | null;
    disable_extra_networks?: boolean | null;
    override_settings?: Record<string, unknown> | null;
    alwayson_scripts?: Record<string, unknown> | null;
    comments?: Record<string, unknown> | null;
    styles?: readonly (unknown)[] | null;
    script_args?: readonly (unknown)[] | null;
    controlnet_units?: readonly (unknown)[] | null;
  };
  Automatic1111Enlarged: {
    /** What made them, and what was ignored, as HTML. */
    html_info: string;
    /** The file as base64, without a `data:` prefix. */
    image: string;
  };
  Automatic1111EnlargedBatch: {
    /** What made them, and what was ignored, as HTML. */
    html_info: string;
    images: readonly (string)[];
  };
  Automatic1111Error: Schemas["Automatic1111FieldError"] | Schemas["Automatic1111OtherError"];
  Automatic1111FieldError: {
    detail: readonly ({
      /** `body` or `query`, and the path of the field where one is at fault. */
      loc: readonly (string | number)[];
      /** For people. */
      msg: string;
      /** `json_invalid`, or `value_error`. */
      type: string;
    })[];
  };
  Automatic1111File: {
    /** The file as base64, without a `data:` prefix. */
    data: string;
    name?: string;
  };
  Automatic1111Model: {
    title: string;
    /** The same. */
    model_name: string;
    /** The same. */
    filename: string;
    hash: null;
    sha256: null;
    config: null;
  };
  Automatic1111OtherError: {
    /** Stable machine code. */
    error: string;
    /** For people. */
    detail: string;
    /** Always empty. */
    body: string;
    /** The same as `detail`. */
    errors: string;
  };
  Automatic1111Pictures: {
    /** PNG where the model makes it, with what it was made of in its text `parameters`. None for `send_images: false`, and where the call was interrupted. */
    images: readonly (string)[];
    /** The request, without its pictures. */
    parameters: Record<string, unknown>;
    /** JSON: `seed`, `all_seeds` (-1 where it is unknown), `infotexts` and the like; in `svc` the task, and the fields that were `ignored`. */
    info: string;
  };
  Automatic1111Progress: {
    /** From 0 to 1. */
    progress: number;
    /** Seconds that it will take, by what has been done. */
    eta_relative: number;
    state: {
      skipped?: boolean;
      interrupted?: boolean;
      stopping_generation?: boolean;
      /** Empty where nothing runs. */
      job?: string;
      job_count?: number;
      job_timestamp?: string;
      job_no?: number;
      /** By the progress of the task. */
      sampling_step?: number;
      sampling_steps?: number;
    };
    /** An early version as base64, of models that show one at no charge. */
    current_image: string | null;
    textinfo: null;
  };
  Automatic1111Queue: {
    /** Always `estimation`. */
    msg: string;
    /** Of the key's calls. */
    queue_size: number;
    avg_event_process_time: null;
    avg_event_concurrent_process_time: null;
    rank: null;
    rank_eta: null;
    queue_eta: number;
  };
  Automatic1111Settings: {
    /** The model of requests that name none; null where there is none. */
    sd_model_checkpoint: string | null;
    sd_checkpoint_hash: string;
    sd_vae: string;
    CLIP_stop_at_last_layers: number;
    samples_format: string;
    samples_save: boolean;
    enable_pnginfo: boolean;
    return_grid: boolean;
    grid_save: boolean;
    show_progressbar: boolean;
    live_previews_enable: boolean;
    face_restoration_model: null;
    upscaler_for_img2img: string;
    img2img_color_correction: boolean;
  };
  Automatic1111TaskProgress: {
    active: boolean;
    queued: boolean;
    completed: boolean;
    /** From 0 to 1. */
    progress: number | null;
    /** Seconds. */
    eta: number | null;
    /** A data URI. */
    live_preview: string | null;
    id_live_preview: number;
    textinfo: null;
  };
  Automatic1111Texts: {
    /** The text `parameters` of a PNG; empty without one. */
    info: string;
    /** All its texts. */
    items: Record<string, unknown>;
    /** The parts of `info`. */
    parameters: Record<string, unknown>;
  };
  BeginFalUpload: {
    /** Not looked at. */
    content_type?: string;
    /** Not kept. */
    file_name?: string;
  };
  Callback: {
    /** Id of the callback. */
    id: string;
    /** The task it tells of; of a group's, the task that ended last. */
    task_id: string;
    /** `X-Request-ID` of the task's create. */
    request_id: string;
    /** Whether it was acknowledged, may still be, or is given up. */
    state: "pending" | "delivered" | "failed";
    /** Attempts begun so far; redeliveries are not counted. */
    attempts: number;
    /** Attempts it gets at most. */
    max_attempts: number;
    /** When the next attempt is due, or the one under way counts as lost. While `pending` only. ISO 8601, UTC. */
    next_attempt_at: string | null;
    /** Whether one more send was asked for and has not begun. */
    redelivery_due: boolean;
    /** When the task ended. ISO 8601, UTC. */
    created_at: string;
    /** Where it goes. */
    url: string;
  };
  CallbackInFull: {
    /** Id of the callback. */
    id: string;
    /** The task it tells of; of a group's, the task that ended last. */
    task_id: string;
    /** `X-Request-ID` of the task's create. */
    request_id: string;
    /** Whether it was acknowledged, may still be, or is given up. */
    state: "pending" | "delivered" | "failed";
    /** Attempts begun so far; redeliveries are not counted. */
    attempts: number;
    /** Attempts it gets at most. */
    max_attempts: number;
    /** When the next attempt is due, or the one under way counts as lost. While `pending` only. ISO 8601, UTC. */
    next_attempt_at: string | null;
    /** Whether one more send was asked for and has not begun. */
    redelivery_due: boolean;
    /** When the task ended. ISO 8601, UTC. */
    created_at: string;
    /** Where it goes. */
    url: string;
    payload: Schemas["TaskCallback"] | Schemas["GroupCallback"] | Record<string, unknown>;
    /** Every send, in order. */
    history: readonly ({
      /** From 1, attempts and redeliveries together. */
      sequence: number;
      /** Whether it counts as an attempt. */
      kind: string;
      /** When it began. ISO 8601, UTC. */
      started_at: string;
      /** When it was over; null while it is under way. ISO 8601, UTC. */
      ended_at: string | null;
      /** How long it took. */
      duration_ms: number | null;
      /** `delivered`: acknowledged. `refused`: answered with another status than 2xx. `unreachable`: no answer. `forbidden`: the address may not be called. `interrupted`: the service stopped meanwhile; it may have arrived. */
      outcome: string | null;
      /** HTTP status of the answer. */
      status: number | null;
      /** IP address it was sent to. Never that of a `forbidden` one. */
      address: string | null;
      /** How the answer's body begins. */
      answer: string | null;
      /** Why there was no answer. */
      error: string | null;
    })[];
  };
  ChangedApiKey: {
    /** Id of the key. */
    id: string;
    /** What people call it. */
    name: string;
    /** The account it belongs to. */
    account_id: string;
    /** First and last characters, to recognise it by. */
    display: string;
    /** Only an active one is taken. */
    status: "active" | "expired" | "revoked";
    /** When it was made. Unix seconds. */
    created_at: number;
    /** When it was revoked. Unix seconds. */
    revoked_at: number | null;
    /** Whether its callbacks are signed. */
    signs_callbacks: boolean;
    /** The secret before the last rotation. */
    previous: {
      /** First and last characters, to recognise it by. */
      display: string;
      /** Until when it is taken. Unix seconds. */
      expires_at: number;
    } | null;
    /** From when on the key is refused; null: never. Unix seconds. */
    expires_at: number | null;
    /** Ids of models the key may use, * standing for any characters; null: all models. */
    models: readonly (string)[] | null;
    /** What the key may create; null: everything. */
    features: readonly ("images" | "videos" | "compat")[] | null;
    /** Addresses and ranges of them (CIDR) the key may be used from; null: any address. */
    allow_ips: readonly (string)[] | null;
    /** Creates, synchronous calls and redeliveries the key may ask for in a minute; null: any number. */
    requests_per_minute: number | null;
    /** Tasks of the key that may be live at once; null: any number. */
    concurrency: number | null;
    /** Other names for models, and the models' ids; null: none. */
    aliases: Record<string, string> | null;
    /** What the synchronous images API answers when a request does not say; null: as the server has it. */
    response_format: "b64_json" | "url" | null;
    /** Longest wait of a synchronous call, where shorter than the server's; null: the server's. */
    sync_wait_seconds: number | null;
    /** What the key may spend; null: any amount. */
    quota: {
      /** What the key may spend. */
      limit: string;
      /** When that begins anew, in UTC. */
      reset: "total" | "daily" | "weekly" | "monthly";
    } | null;
    /** How one of a model's routes is chosen when a request does not say; null: as the model has it. */
    route_policy: "ordered" | "weighted" | "cheapest" | "fastest" | "least_busy" | null;
    /** Whether a request may name the one route that it takes, by X-Route; null: it may not. */
    named_routes: "allowed" | null;
    /** How long the files of its tasks are kept after their end, and the most that a request may ask for; null: as the server has it. */
    retain_seconds: number | null;
    /** Names of the checks of content that its requests go through; an empty list: none; null: as the model or the server has it. */
    moderation: readonly (string)[] | null;
    /** Prices are charged times this; null: as the account's. */
    price_multiplier: string | null;
    /** Only where one was made: what callbacks are signed with, shown this once. */
    callback_secret?: string;
  };
  CompatibleError: {
    error: {
      /** For people and logs, not for control flow: it may change. */
      message: string;
      /** The class of the error. */
      type: string;
      code: Schemas["ErrorCode"];
      /** Path of the field at fault, `image_urls[2]`. */
      param?: string;
    };
  };
  CompatibleModel: {
    /** Id or alias. */
    id: string;
    object: "model";
    /** Not known here: 0. */
    created: number;
    /** The provider. */
    owned_by: string;
  };
  CompatibleVideo: {
    /** Id of the video, which is the id of its task. */
    id: string;
    object: "video";
    /** Id of the model. */
    model: string;
    status: "queued" | "in_progress" | "completed" | "failed";
    /** Percent. */
    progress: number;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** When the task ended. Unix seconds. */
    completed_at: number | null;
    /** When its files go, where `retain_seconds` of the create says so, or when they went. Unix seconds. */
    expires_at: number | null;
    /** As it was given. */
    prompt: string | null;
    /** `<width>x<height>` of what was made; until then of what was asked for, and `auto` where the model decides it. */
    size: string;
    /** The same of its length, in whole seconds. */
    seconds: string;
    /** The video that it is a remix of. */
    remixed_from_video_id: string | null;
    /** Why there is no video. With `failed` only. */
    error: {
      /** As `error_code` of a task; `CANCELLED` where its owner ended it. */
      code: string;
      /** For people, safe to show. */
      message: string;
    } | null;
  };
  ConsoleLink: {
    /** Id of the session. */
    id: string;
    /** `link`: it waits for its browser. */
    state: "link" | "open";
    /** Whose screens it has. */
    role: "tenant" | "operator";
    /** The key or token that it acts as. */
    holder: {
      /** Its id. */
      id: string;
      /** What it was called when the session began. */
      name: string;
    };
    /** When it was made. Unix seconds. */
    created_at: number;
    /** When it ends. Unix seconds. */
    expires_at: number;
    /** Opens the console once. Shown this once. */
    url: string;
  };
  ConsoleSession: {
    /** Id of the session. */
    id: string;
    /** Whose screens it has: those of an API key, or those of a management token. */
    role: "tenant" | "operator";
    /** The key or token that it acts as. */
    holder: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The key's account; null for a token. */
    account_id: string | null;
    /** What it may do; none for a key. */
    scopes: readonly (string)[];
    /** When it ends. Unix seconds. */
    expires_at: number;
  };
  CreateCompatibleVideo: {
    /** What to show. */
    prompt: string;
    /** Id or alias of a video model; `sora-2` unless given, which is an alias of the operator's. */
    model?: string | null;
    /** `<width>x<height>` within what the model can do, or `auto`. The model decides unless given. */
    size?: string | null;
    seconds?: string | number | null;
    /** A picture to begin with: a URL or a base64 data URI. */
    input_reference?: string | {
      /** A URL or a base64 data URI. */
      image_url: string;
    } | null;
  };
  CreateCompatibleVideoForm: {
    /** What to show. */
    prompt: string;
    /** Id or alias of a video model; `sora-2` unless given, which is an alias of the operator's. */
    model?: string | null;
    /** `<width>x<height>` within what the model can do, or `auto`. The model decides unless given. */
    size?: string | null;
    seconds?: string | number | null;
    /** A picture to begin with: a PNG, JPEG or WebP file of at most 10 MB, or as text a URL or a base64 data URI. The field may be called `input_reference[image_url]`. */
    input_reference?: string;
  };
  CreateGeminiFile: {
    file?: {
      /** What to call it. */
      displayName?: string;
    };
  };
  CreateGeminiInteraction: {
    /** A model's id or alias, Google's name for it, or `gemini-` and its id. */
    model: string;
    /** A text, texts and files, or steps. The last input of the user is the prompt. Its files are used; where it has none, those of the latest step before that has some. */
    input: string | {
      /** `text`, `image` or `video`. */
      type?: string;
      /** What to make. */
      text?: string;
      /** Content of a file in base64. */
      data?: string;
      /** Its media type. */
      mime_type?: string;
      /** In place of the content: a URL, or the `uri` of a file of this account. */
      uri?: string;
    } | readonly ({
      /** `user_input` or `model_output`; `thought` is passed over. */
      type?: string;
      /** In place of the type: `user` or `model`. */
      role?: string;
      /** A text, or texts and files. */
      content?: string | {
        /** `text`, `image` or `video`. */
        type?: string;
        /** What to make. */
        text?: string;
        /** Content of a file in base64. */
        data?: string;
        /** Its media type. */
        mime_type?: string;
        /** In place of the content: a URL, or the `uri` of a file of this account. */
        uri?: string;
      } | readonly ({
        /** `text`, `image` or `video`. */
        type?: string;
        /** What to make. */
        text?: string;
        /** Content of a file in base64. */
        data?: string;
        /** Its media type. */
        mime_type?: string;
        /** In place of the content: a URL, or the `uri` of a file of this account. */
        uri?: string;
      })[];
    } | {
      /** `text`, `image` or `video`. */
      type?: string;
      /** What to make. */
      text?: string;
      /** Content of a file in base64. */
      data?: string;
      /** Its media type. */
      mime_type?: string;
      /** In place of the content: a URL, or the `uri` of a file of this account. */
      uri?: string;
    } | string)[];
    /** Goes before the prompt. */
    system_instruction?: string;
    /** A task of this account: where the input has no file, the first result of the task is used. */
    previous_interaction_id?: string;
    /** One, or one of several. */
    response_format?: {
      /** `image` or `video`: what the model makes. */
      type?: string;
      /** Width to height. */
      aspect_ratio?: string;
      /** Of a picture: side of a square of as many pixels. */
      image_size?: string;
      /** Of a video: pixels of the shorter side. */
      resolution?: string;
      /** Of a video. */
      duration?: string;
      /** Of a picture. */
      mime_type?: string;
      /** Of pictures that are waited for: `inline`, as is usual, or `uri`. */
      delivery?: string;
    } | readonly ({
      /** `image` or `video`: what the model makes. */
      type?: string;
      /** Width to height. */
      aspect_ratio?: string;
      /** Of a picture: side of a square of as many pixels. */
      image_size?: string;
      /** Of a video: pixels of the shorter side. */
      resolution?: string;
      /** Of a video. */
      duration?: string;
      /** Of a picture. */
      mime_type?: string;
      /** Of pictures that are waited for: `inline`, as is usual, or `uri`. */
      delivery?: string;
    })[];
    generation_config?: {
      /** Where the model has one. */
      seed?: number;
      image_config?: {
        /** As in `response_format`. */
        aspect_ratio?: string;
        /** As in `response_format`. */
        image_size?: string;
      };
      video_config?: {
        /** What pictures are for: `reference_to_video`, or where it begins and ends. */
        task?: string;
      };
    };
    /** With what the model makes. */
    response_modalities?: readonly (string)[];
    /** Whether to answer before the picture is made. Videos always are. */
    background?: boolean;
    /** Whether to send events while a picture is waited for. */
    stream?: boolean;
    /** Without an id in the answer, if false. The task is kept all the same. */
    store?: boolean;
  };
  CreateGeminiVideo: {
    /** One. */
    instances: readonly ({
      /** What to show. */
      prompt?: string;
      /** The picture that it begins with. */
      image?: {
        /** Its content in base64. */
        bytesBase64Encoded?: string;
        /** Its media type. */
        mimeType?: string;
        /** In place of the content: a URL, or the `uri` of a file of this account. */
        gcsUri?: string;
      };
      /** The picture that it ends with. */
      lastFrame?: {
        /** Its content in base64. */
        bytesBase64Encoded?: string;
        /** Its media type. */
        mimeType?: string;
        /** In place of the content: a URL, or the `uri` of a file of this account. */
        gcsUri?: string;
      };
      /** The video to change. Also with `uri`, or `encodedVideo`. */
      video?: {
        /** Its content in base64. */
        bytesBase64Encoded?: string;
        /** Its media type. */
        mimeType?: string;
        /** In place of the content: a URL, or the `uri` of a file of this account. */
        gcsUri?: string;
      };
      /** Pictures to edit or to show. One whose type ends in `MASK` says where to change the first. */
      referenceImages?: readonly ({
        /** Also as `inlineData` or `fileData`. */
        referenceImage?: {
          /** Its content in base64. */
          bytesBase64Encoded?: string;
          /** Its media type. */
          mimeType?: string;
          /** In place of the content: a URL, or the `uri` of a file of this account. */
          gcsUri?: string;
        };
        /** Also as `inlineData` or `fileData`. */
        image?: {
          /** Its content in base64. */
          bytesBase64Encoded?: string;
          /** Its media type. */
          mimeType?: string;
          /** In place of the content: a URL, or the `uri` of a file of this account. */
          gcsUri?: string;
        };
        /** What it is for. */
        referenceType?: string;
      })[];
    })[];
    parameters?: {
      /** How many videos. */
      sampleCount?: number;
      /** Width to height. */
      aspectRatio?: string;
      /** Pixels of the shorter side. */
      resolution?: string;
      /** Length in seconds. */
      durationSeconds?: number;
      /** What not to show. */
      negativePrompt?: string;
      /** Where the model has one. */
      seed?: number;
    };
  };
  CreateGroup: {
    /** Requests that are whole by themselves, each a task after those of `models`. */
    requests?: readonly ({
      /** Id or alias of a model. */
      model: string;
    })[];
    /** The prompt of all tasks of `models`, unless the grid has one. */
    prompt?: string;
    /** Each makes the prompt. */
    models?: readonly (string)[];
    /** Other fields of the creates, the same for all tasks of `models`. */
    parameters?: Record<string, unknown>;
    /** Fields with several values each: there is a task for each model and each combination, 16 at most. */
    grid?: Record<string, readonly (unknown)[]>;
    /** The most that all tasks together may hold, as a decimal string of USD. */
    budget?: string;
    /** After so long, what has not ended is cancelled. */
    deadline_seconds?: number;
    /** Address that is told once, when all tasks have ended, in whatever way. Each task tells of its own end where `parameters` has a `callback_url`. */
    callback_url?: string;
    /** `all`: every task goes on to its end. `first`: when one completes, the others are cancelled. `cheapest`, `fastest`: as `all`, and once all have ended, `winner` is the completed task that was charged least, or that took the shortest from its start. */
    policy?: "all" | "first" | "cheapest" | "fastest";
  };
  CreateReplicateFile: {
    /** A picture, a film or sound. */
    content: string;
    /** An object that the answer repeats. */
    metadata?: string;
    /** What the file is called. */
    filename?: string;
  };
  CreateReplicateModelPrediction: {
    /** What the model takes, by its own names, by those that Replicate has for it, or by names that many APIs have. */
    input: Record<string, unknown>;
    /** Is told of the prediction. */
    webhook?: string | null;
    /** What is told; `output` and `completed` unless given. */
    webhook_events_filter?: readonly ("start" | "output" | "logs" | "completed")[] | null;
  };
  CreateReplicatePrediction: {
    /** `owner/name`, `owner/name:version`, or a version alone. */
    version?: string | null;
    /** The same, where there is no `version`. */
    model?: string | null;
    /** What the model takes, by its own names, by those that Replicate has for it, or by names that many APIs have. */
    input: Record<string, unknown>;
    /** Is told of the prediction. */
    webhook?: string | null;
    /** What is told; `output` and `completed` unless given. */
    webhook_events_filter?: readonly ("start" | "output" | "logs" | "completed")[] | null;
  };
  CreateVideoEdit: {
    /** The video: `{"id": …}` of one of the account, or a URL or a base64 data URI. */
    video: string | {
      /** Id of the video, which is the id of its task. */
      id: string;
    };
    /** What to change. */
    prompt: string;
    /** Id or alias of a model that can do this; the one that made the video unless given. */
    model?: string | null;
    /** `<width>x<height>` within what the model can do, or `auto`. The model decides unless given. */
    size?: string | null;
    seconds?: string | number | null;
  };
  CreateVideoEditForm: {
    /** The video: a file of at most 64 MB, or as text a URL or a base64 data URI; or in `video[id]` the id of one of the account. */
    video?: string;
    /** What to change. */
    prompt: string;
    /** Id or alias of a model that can do this; the one that made the video unless given. */
    model?: string | null;
    /** `<width>x<height>` within what the model can do, or `auto`. The model decides unless given. */
    size?: string | null;
    seconds?: string | number | null;
  };
  CreateVideoExtend: {
    /** The video: `{"id": …}` of one of the account, or a URL or a base64 data URI. */
    video: string | {
      /** Id of the video, which is the id of its task. */
      id: string;
    };
    /** How it goes on. */
    prompt: string;
    /** Id or alias of a model that can do this; the one that made the video unless given. */
    model?: string | null;
    /** `<width>x<height>` within what the model can do, or `auto`. The model decides unless given. */
    size?: string | null;
    seconds?: string | number | null;
  };
  CreateVideoExtendForm: {
    /** The video: a file of at most 64 MB, or as text a URL or a base64 data URI; or in `video[id]` the id of one of the account. */
    video?: string;
    /** How it goes on. */
    prompt: string;
    /** Id or alias of a model that can do this; the one that made the video unless given. */
    model?: string | null;
    /** `<width>x<height>` within what the model can do, or `auto`. The model decides unless given. */
    size?: string | null;
    seconds?: string | number | null;
  };
  CreateVideoRemix: {
    /** What to show. */
    prompt: string;
  };
  CreateVideoRemixForm: {
    /** What to show. */
    prompt: string;
  };
  EditImages: {
    /** Id or alias of an image model. */
    model: string;
    /** What to make. */
    prompt: string;
    /** This or `image` is required. */
    images?: readonly (string | {
      image_url: string | {
        /** A URL, a base64 data URI, or the id of an uploaded file. */
        url: string;
      };
    } | {
      /** The id of an uploaded file. */
      file_id: string;
    } | {
      /** A URL, a base64 data URI, or the id of an uploaded file. */
      url: string;
    })[];
    /** One image, or several, where `images` is not given. */
    image?: string | {
      image_url: string | {
        /** A URL, a base64 data URI, or the id of an uploaded file. */
        url: string;
      };
    } | {
      /** The id of an uploaded file. */
      file_id: string;
    } | {
      /** A URL, a base64 data URI, or the id of an uploaded file. */
      url: string;
    } | readonly (string | {
      image_url: string | {
        /** A URL, a base64 data URI, or the id of an uploaded file. */
        url: string;
      };
    } | {
      /** The id of an uploaded file. */
      file_id: string;
    } | {
      /** A URL, a base64 data URI, or the id of an uploaded file. */
      url: string;
    })[];
    /** Transparent where the prompt applies, for models that take masks. */
    mask?: string | {
      image_url: string | {
        /** A URL, a base64 data URI, or the id of an uploaded file. */
        url: string;
      };
    } | {
      /** The id of an uploaded file. */
      file_id: string;
    } | {
      /** A URL, a base64 data URI, or the id of an uploaded file. */
      url: string;
    };
    /** How many images. */
    n?: number | null;
    /** `<width>x<height>` within what the model can do, or `auto`. */
    size?: string | null;
    /** Within what the model can do; `auto` leaves it to the model. */
    quality?: string | null;
    /** `auto` or `opaque`, where the model supports it. */
    background?: string | null;
    /** `png`, `jpeg` or `webp`; of models that make them, `gif` or `svg`. */
    output_format?: string | null;
    /** How images come back: inline, or as URLs. A query parameter of this name, or the key's own default, counts where it is absent. */
    response_format?: "b64_json" | "url" | null;
    /** Answer with server-sent events. */
    stream?: boolean | null;
    /** Address that is told of the end of the task as well, whoever waits. */
    callback_url?: string | null;
    /** Early versions to show of each image, of models that have the parameter; some charge for them. A slow reader misses all but the latest. Without `stream` it means nothing. */
    partial_images?: number | null;
  };
  EditImagesForm: {
    /** PNG, JPEG or WebP, at most 10 MB each. The field may be repeated, or be called `image[]` or `image[0]`. */
    image: readonly (string)[];
    /** What to make. */
    prompt: string;
    /** Id or alias of an image model. */
    model: string;
    /** PNG, transparent where the prompt applies, for models that take masks. */
    mask?: string;
    /** How many images. */
    n?: number | null;
    /** `<width>x<height>` within what the model can do, or `auto`. */
    size?: string | null;
    /** Within what the model can do; `auto` leaves it to the model. */
    quality?: string | null;
    /** `auto` or `opaque`, where the model supports it. */
    background?: string | null;
    /** `png`, `jpeg` or `webp`; of models that make them, `gif` or `svg`. */
    output_format?: string | null;
    /** How images come back: inline, or as URLs. A query parameter of this name, or the key's own default, counts where it is absent. */
    response_format?: "b64_json" | "url" | null;
    /** Answer with server-sent events. */
    stream?: boolean | null;
    /** Address that is told of the end of the task as well, whoever waits. */
    callback_url?: string | null;
    /** Early versions to show of each image, of models that have the parameter; some charge for them. A slow reader misses all but the latest. Without `stream` it means nothing. */
    partial_images?: number | null;
  };
  Error: {
    /** The HTTP status. */
    code: number;
    /** For people and logs, not for control flow: it may change. */
    message: string;
    data: {
      /** The class of the error. */
      type: string;
      error_code: Schemas["ErrorCode"];
      /** Path of the field at fault, `image_urls[2]`. */
      param?: string;
    };
  };
  ErrorCode: string;
  Estimate: {
    /** Id of the model. */
    model: string;
    /** Where the request would go. */
    endpoint: "/v1/images/generations" | "/v1/videos/generations" | "/compat/v1/images/generations" | "/compat/v1/images/edits";
    /** How many such requests. */
    quantity: number;
    /** Of every amount beside it. */
    currency: "USD";
    /** `exact`: this is the price. `range`: it lies between `min_cost` and `max_cost`. `needs_input`: fields in `missing` decide it. `unpriced`: the model has no price for this. */
    status: string;
    /** What is expected. With a `range`, the most. */
    estimated_cost: string | null;
    /** The least. */
    min_cost: string | null;
    /** The most; what a create would hold. */
    max_cost: string | null;
    line_items: readonly ({
      /** What is sold; `minimum` is what makes up for the least a task costs. */
      sku: string;
      /** What one unit is. */
      unit: string;
      /** How many units, at the most. */
      quantity: number;
      /** Price of one, or of `per`, before the multiplier. */
      unit_price: string;
      /** Units that one such amount is for; 1 where absent. */
      per?: number;
      /** Price of all. The amounts of all lines add up to `max_cost`. */
      amount: string;
      /** For people. */
      detail: string | null;
    })[];
    assumptions: readonly ({
      /** A field the request did not give. */
      field: string;
      /** The value taken. */
      value: unknown;
      /** Where the value comes from: the model's schema, or, for the mode, what is given and what was left out. */
      source: string;
    })[];
    /** Fields that were not given and that the create needs, or the price with `needs_input`. */
    missing: readonly (string)[];
    /** Whether balance and quota suffice now. A shortage is no error here. null: there is no price. */
    affordable: boolean | null;
    /** What falls short. */
    limited_by: string | null;
    /** How long the model's latest tasks took on this server once they had started; null without enough of them. */
    estimated_seconds: {
      /** Half of the tasks take no longer. */
      p50: number;
      /** Nine of ten take no longer. */
      p90: number;
    } | null;
    /** Version of the model's prices. */
    price_version: string;
    /** What every line, and the minimum, is charged times for this API key; 1 where absent. */
    multiplier?: string;
    /** The routes that are switched on and can do the request, or the one that it names. Only for keys that may name routes. The price is the model's, whichever route is taken. */
    routes?: readonly ({
      /** As X-Route names it. */
      route: string;
      /** The most; what a create that takes this route would hold. */
      max_cost: string | null;
    })[];
  };
  EstimateRequest: {
    /** Where the request would go. Without it, where the model's tasks are created. */
    endpoint?: "/v1/images/generations" | "/v1/videos/generations" | "/compat/v1/images/generations" | "/compat/v1/images/edits";
    /** The body that would be sent. Prompt and media may be left out. */
    request: Record<string, unknown>;
    /** How many such requests. */
    quantity?: number;
  };
  ExplainedRoutes: {
    /** Id of a model, or an alias of one. */
    model: string;
    /** What the model would do, `text-to-image`. */
    mode: string;
    /** How one of the ways is chosen. */
    policy: string;
    /** What says so; `default`: nothing, so that it is `ordered`. */
    policy_from: string;
    /** `sent`: the task is sent at once. `waits`: until a way opens. `refused`: no way can do it, or only the operator can open one. */
    outcome: string;
    ways: readonly ({
      /** Id of the provider. */
      provider: string;
      /** Name of its account; `default` for the customary variable's. */
      account?: string;
      /** The queue of the account's tasks. */
      lane?: string;
      /** The provider's name for the model. */
      upstream_model: string;
      /** `chosen`: the task is sent here. `next`: it is sent here where the chosen one fails. `standby`: it could be sent here. `cannot`: the route cannot do it exactly. `off`: no account is switched on. `not_asked_for`: the request names another one. Else its `state`. */
      verdict: string;
      /** The field that is in the way. */
      field?: string;
      /** Why, for people. */
      why?: string;
      /** Whether it gets tasks. `closed`: it does. `open`: it failed several times in a row. `half_open`: one task tries it. `refused`: the provider refuses the key, the account or the model. `spent`: the account has no money left there. `blocked`: an operator wants it so. `paused`: the provider asked for a pause. */
      state: string;
      /** What the provider or the operator said. */
      detail?: string;
      /** When that began. Unix seconds. */
      since?: number;
      /** When it is tried again; absent: now, or when somebody has seen to it. Unix seconds. */
      until?: number;
      /** The most that the request costs the operator there. */
      cost?: string;
    })[];
  };
  ExtendTask: {
    /** Id or alias of a model that can. */
    model?: string;
    /** Which result of the task, from 0. */
    index?: number;
  };
  FalError: {
    /** What is wrong, or what is wrong with each field. */
    detail: string | readonly ({
      loc: readonly (string | number)[];
      msg: string;
      type: string;
      url?: string;
      input?: unknown;
    })[];
    /** With a text alone. */
    error_type?: string;
    /** The same for people, which clients show. */
    message: string;
    error?: {
      /** The same once more, for clients that read it here. */
      message: string;
      /** The HTTP status. */
      code: number;
    };
  };
  FalInput: Record<string, unknown>;
  FalOutput: {
    /** Of a model that makes images. */
    images?: readonly ({
      /** Address of the file; of a picture that was asked for with `sync_mode: true`, a data URI. */
      url: string;
      /** Media type. */
      content_type: string;
      /** Its name here. */
      file_name: string;
      /** Bytes. */
      file_size: number;
      /** Pixels. */
      width: number;
      /** Pixels. */
      height: number;
      /** Seconds; of videos alone. */
      duration?: number;
    })[];
    video?: {
      /** Address of the file; of a picture that was asked for with `sync_mode: true`, a data URI. */
      url: string;
      /** Media type. */
      content_type: string;
      /** Its name here. */
      file_name: string;
      /** Bytes. */
      file_size: number;
      /** Pixels. */
      width: number;
      /** Pixels. */
      height: number;
      /** Seconds; of videos alone. */
      duration?: number;
    } | null;
    /** All of them, where there are several. */
    videos?: readonly ({
      /** Address of the file; of a picture that was asked for with `sync_mode: true`, a data URI. */
      url: string;
      /** Media type. */
      content_type: string;
      /** Its name here. */
      file_name: string;
      /** Bytes. */
      file_size: number;
      /** Pixels. */
      width: number;
      /** Pixels. */
      height: number;
      /** Seconds; of videos alone. */
      duration?: number;
    })[];
    /** Images that were refused are no results here. */
    has_nsfw_concepts?: readonly (boolean)[];
    /** The seed that was asked for. */
    seed?: number;
    /** As it was given. */
    prompt?: string;
    timings?: {
      /** Seconds from the first submission to the end. */
      inference: number;
    };
  };
  FalStatus: {
    status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
    /** Id of the request, which is the id of its task. */
    request_id: string;
    /** Where the result is. */
    response_url: string;
    /** Where the status is. */
    status_url: string;
    /** Where it is cancelled. */
    cancel_url: string;
    /** How many tasks are ahead of it. With `IN_QUEUE` only. */
    queue_position?: number;
    /** Null unless `logs` asks for it. Not with `IN_QUEUE`. */
    logs?: readonly ({
      message: string;
      timestamp: string;
      level: "INFO" | "ERROR";
      source: "USER";
    })[] | null;
    metrics?: {
      /** Seconds from the first submission to the end. */
      inference_time: number | null;
    };
    /** Why there is no result. */
    error?: string;
    /** The type of that error. */
    error_type?: string;
  };
  FamilyTask: {
    /** Public id of the task. */
    task_id: string;
    /** The task that it was made from; null for none. */
    parent_id: string | null;
    /** How it was made from that one. */
    relation: string | null;
    /** Whether it was deleted. Then nothing else is known of it. */
    deleted: boolean;
    kind?: "image" | "video";
    /** Id of the model. */
    model?: string;
    status?: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** When it was accepted. Unix seconds. */
    created_at?: number;
    /** When it ended. Unix seconds. */
    completed_at?: number;
    /** URLs of what was made, while the files are there. With `completed` only. */
    result?: readonly (string)[];
    /** Of each of them, a smaller picture. */
    thumbnails?: readonly (string)[];
  };
  GeminiError: {
    error: {
      /** The HTTP status. */
      code: number;
      /** For people and logs, not for control flow: it may change. */
      message: string;
      /** The class of the error. */
      status: string;
      details: readonly ({
        /** `ErrorInfo`, `BadRequest`, `QuotaFailure` or `RetryInfo`, after `type.googleapis.com/google.rpc.`. */
        "@type": string;
        /** The code that this service has, in capitals. */
        reason?: string;
        domain?: "svc";
        metadata?: {
          /** The code that this service has. */
          code: string;
          /** Id of the task. */
          task?: string;
        };
        fieldViolations?: readonly ({
          /** Path of the field at fault, as the caller has it. */
          field: string;
          /** What is wrong. */
          description: string;
        })[];
        violations?: readonly ({
          /** What does not suffice. */
          subject: string;
          /** The same, for people. */
          description: string;
        })[];
        /** After which to send the request again: `2s`. */
        retryDelay?: string;
      })[];
    };
  };
  GeminiFetchPredictOperation: {
    /** The `name` of an operation. */
    operationName: string;
  };
  GeminiFetchedOperation: {
    /** Its name. */
    name: string;
    metadata: {
      /** What it tells. */
      "@type": string;
      /** The status of the task. */
      state: string;
      progressPercent: number;
      /** When the task was accepted. */
      createTime: string;
      /** When it ended. */
      endTime?: string;
    };
    /** Once the task has ended; absent before. */
    done?: true;
    error?: {
      /** Of `google.rpc.Code`: 1 cancelled, 3 invalid, 4 too late, 8 no capacity, 13 failed, 14 unavailable. */
      code: number;
      /** For people, safe to show. */
      message: string;
      details?: readonly ({
        /** `ErrorInfo`, `BadRequest`, `QuotaFailure` or `RetryInfo`, after `type.googleapis.com/google.rpc.`. */
        "@type": string;
        /** The code that this service has, in capitals. */
        reason?: string;
        domain?: "svc";
        metadata?: {
          /** The code that this service has. */
          code: string;
          /** Id of the task. */
          task?: string;
        };
        fieldViolations?: readonly ({
          /** Path of the field at fault, as the caller has it. */
          field: string;
          /** What is wrong. */
          description: string;
        })[];
        violations?: readonly ({
          /** What does not suffice. */
          subject: string;
          /** The same, for people. */
          description: string;
        })[];
        /** After which to send the request again: `2s`. */
        retryDelay?: string;
      })[];
    };
    response?: {
      videos: readonly ({
        mimeType: string;
        bytesBase64Encoded: string;
      })[];
      /** How many were withheld. */
      raiMediaFilteredCount?: number;
      /** Why. */
      raiMediaFilteredReasons?: readonly (string)[];
    };
  };
  GeminiFile: {
    /** `files/<file>`. */
    name: string;
    /** What the upload called it. */
    displayName?: string;
    /** When it goes; of uploaded files. */
    expirationTime?: string;
    /** Its media type. */
    mimeType: string;
    /** Its size in bytes. */
    sizeBytes: string;
    /** When it was stored. */
    createTime: string;
    /** The same. */
    updateTime: string;
    /** Of its content, in base64. */
    sha256Hash: string;
    /** What to give as `fileUri`. */
    uri: string;
    /** Where its content is, for the key. */
    downloadUri: string;
    state: "ACTIVE";
    /** Who made it. */
    source: "UPLOADED" | "GENERATED";
    videoMetadata?: {
      /** Its length: `4s`. */
      videoDuration: string;
    };
  };
  GeminiFiles: {
    files: readonly (Schemas["GeminiFile"])[];
    /** Where there is another page. */
    nextPageToken?: string;
  };
  GeminiGenerateContentResponse: {
    /** One for each picture. */
    candidates?: readonly ({
      content?: {
        parts: readonly ({
          inlineData: {
            /** Its media type. */
            mimeType: string;
            /** Its content in base64. */
            data: string;
          };
        })[];
        role: "model";
      };
      /** Why there is a picture, or none. */
      finishReason: string;
      /** The same, for people. */
      finishMessage?: string;
      /** Its place. */
      index: number;
    })[];
    /** Only where there are no candidates. */
    promptFeedback?: {
      /** Why the prompt is refused. */
      blockReason: string;
    };
    usageMetadata: {
      /** Zero where the provider reports none. */
      promptTokenCount: number;
      /** The same. */
      candidatesTokenCount: number;
      /** Their sum. */
      totalTokenCount: number;
    };
    /** Id of the model. */
    modelVersion: string;
    /** Id of the task. */
    responseId?: string;
  };
  GeminiInteraction: {
    /** Id of the task. */
    id?: string;
    object: "interaction";
    /** Id of the model. */
    model: string;
    /** How the task stands. */
    status: string;
    /** When the task was accepted. */
    created: string;
    /** When it ended, or the same. */
    updated: string;
    /** Why there is nothing, or less than was asked for. */
    errors?: readonly ({
      /** The code that the task has here. */
      code: string;
      /** For people, safe to show. */
      message: string;
    })[];
    usage?: {
      /** Zero where the provider reports none. */
      total_input_tokens: number;
      /** The same. */
      total_output_tokens: number;
      /** Their sum. */
      total_tokens: number;
    };
    /** One with what was made, or none. */
    steps: readonly ({
      type: "model_output";
      content: readonly ({
        /** What it is. */
        type: "image" | "video" | "audio";
        /** Its media type. */
        mime_type: string;
        /** Read it with the key. */
        uri?: string;
        /** Its content in base64. */
        data?: string;
      })[];
    })[];
  };
  GeminiModel: {
    /** `models/<model>`. */
    name: string;
    /** Id of the model. */
    baseModelId: string;
    /** Of its price. */
    version: string;
    /** Its name for people. */
    displayName: string;
    /** What it makes. */
    description: string;
    /** What it can be asked for here. */
    supportedGenerationMethods: readonly (string)[];
  };
  GeminiModels: {
    models: readonly (Schemas["GeminiModel"])[];
    /** Where there is another page. */
    nextPageToken?: string;
  };
  GeminiOperation: {
    /** Its name. */
    name: string;
    metadata: {
      /** What it tells. */
      "@type": string;
      /** The status of the task. */
      state: string;
      progressPercent: number;
      /** When the task was accepted. */
      createTime: string;
      /** When it ended. */
      endTime?: string;
    };
    /** Once the task has ended; absent before. */
    done?: true;
    error?: {
      /** Of `google.rpc.Code`: 1 cancelled, 3 invalid, 4 too late, 8 no capacity, 13 failed, 14 unavailable. */
      code: number;
      /** For people, safe to show. */
      message: string;
      details?: readonly ({
        /** `ErrorInfo`, `BadRequest`, `QuotaFailure` or `RetryInfo`, after `type.googleapis.com/google.rpc.`. */
        "@type": string;
        /** The code that this service has, in capitals. */
        reason?: string;
        domain?: "svc";
        metadata?: {
          /** The code that this service has. */
          code: string;
          /** Id of the task. */
          task?: string;
        };
        fieldViolations?: readonly ({
          /** Path of the field at fault, as the caller has it. */
          field: string;
          /** What is wrong. */
          description: string;
        })[];
        violations?: readonly ({
          /** What does not suffice. */
          subject: string;
          /** The same, for people. */
          description: string;
        })[];
        /** After which to send the request again: `2s`. */
        retryDelay?: string;
      })[];
    };
    response?: {
      /** What it tells. */
      "@type": string;
      generateVideoResponse?: {
        generatedSamples?: readonly ({
          video: {
            /** Read it with the key. */
            uri: string;
            /** Its media type. */
            encoding: string;
          };
        })[];
        /** How many were withheld. */
        raiMediaFilteredCount?: number;
        /** Why. */
        raiMediaFilteredReasons?: readonly (string)[];
      };
      /** Of a task that made pictures. */
      candidates?: readonly ({
        content: {
          role: "model";
          parts: readonly ({
            fileData: {
              /** Its media type. */
              mimeType: string;
              /** Read it with the key. */
              fileUri: string;
            };
          })[];
        };
        finishReason: "STOP";
        /** Its place. */
        index: number;
      })[];
    };
  };
  GeminiOperationName: {
    /** `models/<model>/operations/<task>`: poll it below the base URL. */
    name: string;
  };
  GeminiPredictResponse: {
    /** One for each picture. */
    predictions: readonly ({
      /** Its media type. */
      mimeType?: string;
      /** Its content in base64. */
      bytesBase64Encoded?: string;
      /** Why there is none. */
      raiFilteredReason?: string;
    })[];
  };
  GenerateGeminiContent: {
    /** The last turn of the user is the prompt. Its pictures are edited; where it has none, those of the latest turn before that has some. */
    contents: readonly ({
      /** `user` or `model`. */
      role?: string;
      /** Texts and pictures. */
      parts?: readonly ({
        /** What to draw. */
        text?: string;
        inlineData?: {
          /** Its media type. */
          mimeType?: string;
          /** Its content in base64. */
          data?: string;
        };
        fileData?: {
          /** Its media type. */
          mimeType?: string;
          /** A URL, or the `uri` of a file of this account. */
          fileUri?: string;
        };
      })[];
    })[];
    /** Its texts go before the prompt. */
    systemInstruction?: {
      /** `user` or `model`. */
      role?: string;
      /** Texts and pictures. */
      parts?: readonly ({
        /** What to draw. */
        text?: string;
        inlineData?: {
          /** Its media type. */
          mimeType?: string;
          /** Its content in base64. */
          data?: string;
        };
        fileData?: {
          /** Its media type. */
          mimeType?: string;
          /** A URL, or the `uri` of a file of this account. */
          fileUri?: string;
        };
      })[];
    };
    generationConfig?: {
      /** With `IMAGE`; texts are not made. */
      responseModalities?: readonly (string)[];
      /** How many pictures. */
      candidateCount?: number;
      /** Where the model has one. */
      seed?: number;
      imageConfig?: {
        /** Width to height. */
        aspectRatio?: string;
        /** Side of a square of as many pixels. */
        imageSize?: string;
      };
    };
  };
  GenerateGeminiPictures: {
    /** One. */
    instances: readonly ({
      /** What to draw. */
      prompt?: string;
      /** Also as `inlineData` or `fileData`. */
      image?: {
        /** Its content in base64. */
        bytesBase64Encoded?: string;
        /** Its media type. */
        mimeType?: string;
        /** In place of the content: a URL, or the `uri` of a file of this account. */
        gcsUri?: string;
      };
      /** Pictures to edit or to show. One whose type ends in `MASK` says where to change the first. */
      referenceImages?: readonly ({
        /** Also as `inlineData` or `fileData`. */
        referenceImage?: {
          /** Its content in base64. */
          bytesBase64Encoded?: string;
          /** Its media type. */
          mimeType?: string;
          /** In place of the content: a URL, or the `uri` of a file of this account. */
          gcsUri?: string;
        };
        /** Also as `inlineData` or `fileData`. */
        image?: {
          /** Its content in base64. */
          bytesBase64Encoded?: string;
          /** Its media type. */
          mimeType?: string;
          /** In place of the content: a URL, or the `uri` of a file of this account. */
          gcsUri?: string;
        };
        /** What it is for. */
        referenceType?: string;
      })[];
    })[];
    parameters?: {
      /** How many pictures. */
      sampleCount?: number;
      /** Width to height. */
      aspectRatio?: string;
      /** Side of a square of as many pixels. */
      sampleImageSize?: string;
    };
  };
  GenerateImages: {
    /** Id or alias of an image model. */
    model: string;
    /** What to make. */
    prompt: string;
    /** What to edit, for models that take images: its address, or a list of addresses. */
    image?: unknown;
    /** How many images. */
    n?: number | null;
    /** `<width>x<height>` within what the model can do, or `auto`. */
    size?: string | null;
    /** Within what the model can do; `auto` leaves it to the model. */
    quality?: string | null;
    /** `auto` or `opaque`, where the model supports it. */
    background?: string | null;
    /** `png`, `jpeg` or `webp`; of models that make them, `gif` or `svg`. */
    output_format?: string | null;
    /** How images come back: inline, or as URLs. A query parameter of this name, or the key's own default, counts where it is absent. */
    response_format?: "b64_json" | "url" | null;
    /** Answer with server-sent events. */
    stream?: boolean | null;
    /** Address that is told of the end of the task as well, whoever waits. */
    callback_url?: string | null;
    /** Early versions to show of each image, of models that have the parameter; some charge for them. A slow reader misses all but the latest. Without `stream` it means nothing. */
    partial_images?: number | null;
  };
  Group: {
    /** Public id of the group. */
    group_id: string;
    /** `processing` until all tasks have ended; then `completed` if any did, else `failed` if any did. */
    status: "processing" | "completed" | "failed" | "cancelled";
    /** What was asked for. */
    policy: string;
    /** The task that the policy chose; null while there is none. */
    winner: string | null;
    /** When it was accepted. Unix seconds. */
    created_at: number;
    /** When what has not ended is cancelled. Unix seconds. */
    deadline_at: number | null;
    /** All results in one picture, once all tasks have ended. Null where there are none. */
    contact_sheet: string | null;
    usage: {
      /** What its tasks were charged so far. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** In the order of models, then of the grid, then of the requests. A deleted task is null. */
    tasks: readonly ({
      /** Public id of the task. */
      task_id: string;
      task: Schemas["ListedTask"] | null;
    })[];
  };
  GroupCallback: {
    /** Public id of the group. */
    group_id: string;
    /** `X-Request-ID` of the create. */
    request_id: string;
    /** `completed` if any task did, else `failed` if any did, else `cancelled`. */
    status: "completed" | "failed" | "cancelled";
    /** What was asked for. */
    policy: string;
    /** The task that the policy chose. Where there is one. */
    winner?: string;
    /** All results in one picture. Where there are any. */
    contact_sheet?: string;
    usage: {
      /** What its tasks were charged so far. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** In the order of the group, without those that were deleted. */
    tasks: readonly ({
      /** Public id of the task. */
      task_id: string;
      /** Its model. */
      model: string;
      /** How it ended. */
      status: "completed" | "failed" | "cancelled";
      /** URLs of what was made. With `completed` only. */
      result?: readonly (string)[];
      /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
      result_issues?: readonly (Schemas["ResultIssue"])[];
      /** What went wrong, safe to show. With `failed` only. */
      error?: string;
      error_code?: Schemas["TaskErrorCode"];
    })[];
    /** ISO 8601, UTC. */
    created_at: string;
    /** When the last task ended. ISO 8601, UTC. */
    completed_at: string;
  };
  History: {
    /** When this process started, which all of it counts from. Unix seconds. */
    since: number;
    /** Whole minutes, oldest first. Each list of `minutes` has a number for each. */
    at: readonly (number)[];
    minutes: {
      /** Requests answered with a status 2xx. */
      answered_2xx: readonly (number)[];
      /** Requests answered with a status 3xx. */
      answered_3xx: readonly (number)[];
      /** Requests answered with a status 4xx. */
      answered_4xx: readonly (number)[];
      /** Requests answered with a status 5xx. */
      answered_5xx: readonly (number)[];
      /** Tasks accepted. */
      created: readonly (number)[];
      /** Tasks that were completed. */
      completed: readonly (number)[];
      /** Tasks that failed. */
      failed: readonly (number)[];
      /** Tasks that waited at its end, in all lanes. */
      queued: readonly (number)[];
      /** Tasks between submission and end at its end. */
      under_way: readonly (number)[];
      /** Callbacks still to be sent at its end. */
      callbacks_owed: readonly (number)[];
      /** How late the event loop came to 95 in 100 of its timers. Milliseconds, within 5 %. */
      lag_p95_ms: readonly (number)[];
      /** The latest it came to one. Milliseconds. */
      lag_max_ms: readonly (number)[];
      /** Memory of the process at its end. */
      rss_bytes: readonly (number)[];
      /** What the disk of the data folder had left at its end. */
      disk_free_bytes: readonly (number)[];
      /** Size of the database, without stored files. */
      data_bytes: readonly (number)[];
      /** Size of its write-ahead log. */
      wal_bytes: readonly (number)[];
    };
    /** In the order in which a task is in them. */
    stages: readonly ({
      /** What the service did with a task. */
      stage: "queued" | "submitting" | "running" | "finalizing";
      hour: {
        /** Tasks that left it in the last hour. */
        count: number;
        /** How long half of them were in it. Milliseconds, within 5 %; null without any. */
        p50_ms: number | null;
        /** The same of 95 in 100. */
        p95_ms: number | null;
      };
      day: {
        /** Tasks that left it in the last day. */
        count: number;
        /** How long half of them were in it. Milliseconds, within 5 %; null without any. */
        p50_ms: number | null;
        /** The same of 95 in 100. */
        p95_ms: number | null;
      };
    })[];
    routes: readonly ({
      /** The lane of the account; `other` for those beyond 200 routes. */
      provider: string;
      /** What the provider calls the model. */
      upstream_model: string;
      hour: {
        /** Attempts that were completed in the last hour. */
        completed: number;
        /** Those that failed, were not taken, or got no answer. */
        failed: number;
        /** The share of the failed ones among both; null without any. */
        error_rate: number | null;
      };
      day: {
        /** Attempts that were completed in the last day. */
        completed: number;
        /** Those that failed, were not taken, or got no answer. */
        failed: number;
        /** The share of the failed ones among both; null without any. */
        error_rate: number | null;
      };
    })[];
  };
  ImageTask: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
  };
  ImageUsage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    /** The same as `prompt_tokens`. */
    input_tokens: number;
    /** The same as `completion_tokens`. */
    output_tokens: number;
    input_tokens_details: {
      text_tokens: number;
      image_tokens: number;
    };
    output_tokens_details: {
      text_tokens: number;
      image_tokens: number;
    };
  };
  Images: {
    /** When the images were done. Unix seconds. */
    created: number;
    /** One entry an image, in order. */
    data: readonly (Schemas["InlineImage"] | Schemas["LinkedImage"])[];
    /** What was made, as its file shows it; the first image's. */
    size?: string;
    /** What was made, as far as the provider says it; `auto` where nothing is known. */
    quality?: string;
    /** The same: `opaque`, `transparent` or `auto`. */
    background?: string;
    /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
    output_format?: string;
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    usage: Schemas["ImageUsage"];
  };
  InlineImage: {
    /** The file as base64, without a `data:` prefix. */
    b64_json: string;
  };
  Ledger: {
    /** Of every amount beside it. */
    currency: "USD";
    entries: readonly ({
      /** When it was written. Unix seconds. */
      at: number;
      /** What happened. */
      kind: "credit" | "hold" | "capture" | "release" | "refund" | "adjustment";
      /** Added to the balance. */
      balance_delta: string;
      /** Added to what is held. */
      held_delta: string;
      /** The balance after it. */
      balance: string;
      /** The task it is about. */
      task_id: string | null;
      /** Of how many entries of deleted tasks this one is the sum; null: it is none. */
      entries: number | null;
      /** Why. */
      reason: string;
      /** Who: the id of a key or a token, `operator` on the data folder, or `system`. */
      actor: string;
    })[];
    /** Give as `before` for the next page; null on the last. */
    next: string | null;
  };
  LinkedImage: {
    /** Where the file is. */
    url: string;
  };
  ListedApiKey: {
    /** Id of the key. */
    id: string;
    /** What people call it. */
    name: string;
    /** The account it belongs to. */
    account_id: string;
    /** First and last characters, to recognise it by. */
    display: string;
    /** Only an active one is taken. */
    status: "active" | "expired" | "revoked";
    /** When it was made. Unix seconds. */
    created_at: number;
    /** When it was revoked. Unix seconds. */
    revoked_at: number | null;
    /** Whether its callbacks are signed. */
    signs_callbacks: boolean;
    /** The secret before the last rotation. */
    previous: {
      /** First and last characters, to recognise it by. */
      display: string;
      /** Until when it is taken. Unix seconds. */
      expires_at: number;
    } | null;
    /** From when on the key is refused; null: never. Unix seconds. */
    expires_at: number | null;
    /** Ids of models the key may use, * standing for any characters; null: all models. */
    models: readonly (string)[] | null;
    /** What the key may create; null: everything. */
    features: readonly ("images" | "videos" | "compat")[] | null;
    /** Addresses and ranges of them (CIDR) the key may be used from; null: any address. */
    allow_ips: readonly (string)[] | null;
    /** Creates, synchronous calls and redeliveries the key may ask for in a minute; null: any number. */
    requests_per_minute: number | null;
    /** Tasks of the key that may be live at once; null: any number. */
    concurrency: number | null;
    /** Other names for models, and the models' ids; null: none. */
    aliases: Record<string, string> | null;
    /** What the synchronous images API answers when a request does not say; null: as the server has it. */
    response_format: "b64_json" | "url" | null;
    /** Longest wait of a synchronous call, where shorter than the server's; null: the server's. */
    sync_wait_seconds: number | null;
    /** What the key may spend; null: any amount. */
    quota: {
      /** What the key may spend. */
      limit: string;
      /** When that begins anew, in UTC. */
      reset: "total" | "daily" | "weekly" | "monthly";
    } | null;
    /** How one of a model's routes is chosen when a request does not say; null: as the model has it. */
    route_policy: "ordered" | "weighted" | "cheapest" | "fastest" | "least_busy" | null;
    /** Whether a request may name the one route that it takes, by X-Route; null: it may not. */
    named_routes: "allowed" | null;
    /** How long the files of its tasks are kept after their end, and the most that a request may ask for; null: as the server has it. */
    retain_seconds: number | null;
    /** Names of the checks of content that its requests go through; an empty list: none; null: as the model or the server has it. */
    moderation: readonly (string)[] | null;
    /** Prices are charged times this; null: as the account's. */
    price_multiplier: string | null;
    /** Name of its account. */
    account: string;
    /** With `charged_days`: what was charged for its tasks that ended since then, before refunds. */
    charged?: string;
  };
  ListedGroup: {
    /** Public id of the group. */
    group_id: string;
    /** `processing` until all tasks have ended; then `completed` if any did, else `failed` if any did. */
    status: "processing" | "completed" | "failed" | "cancelled";
    /** What was asked for. */
    policy: string;
    /** The task that the policy chose; null while there is none. */
    winner: string | null;
    /** When it was accepted. Unix seconds. */
    created_at: number;
    /** When what has not ended is cancelled. Unix seconds. */
    deadline_at: number | null;
    /** All results in one picture, once all tasks have ended. Null where there are none. */
    contact_sheet: string | null;
    usage: {
      /** What its tasks were charged so far. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** In the order of the group, deleted ones too. */
    task_ids: readonly (string)[];
  };
  ListedTask: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    /** What the task makes; it decides the path of its status. */
    kind: "image" | "video";
  };
  ManagedCallback: {
    /** Id of the callback. */
    id: string;
    /** The task it tells of; of a group's, the task that ended last. */
    task_id: string;
    /** `X-Request-ID` of the task's create. */
    request_id: string;
    /** Whether it was acknowledged, may still be, or is given up. */
    state: "pending" | "delivered" | "failed";
    /** Attempts begun so far; redeliveries are not counted. */
    attempts: number;
    /** Attempts it gets at most. */
    max_attempts: number;
    /** When the next attempt is due, or the one under way counts as lost. While `pending` only. ISO 8601, UTC. */
    next_attempt_at: string | null;
    /** Whether one more send was asked for and has not begun. */
    redelivery_due: boolean;
    /** When the task ended. ISO 8601, UTC. */
    created_at: string;
    /** Host and port it goes to. The rest of its address is its owner's alone. */
    host: string;
    /** Whose it is. */
    account: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The key that created its task. */
    key: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
  };
  ManagedCallbackInFull: {
    /** Id of the callback. */
    id: string;
    /** The task it tells of; of a group's, the task that ended last. */
    task_id: string;
    /** `X-Request-ID` of the task's create. */
    request_id: string;
    /** Whether it was acknowledged, may still be, or is given up. */
    state: "pending" | "delivered" | "failed";
    /** Attempts begun so far; redeliveries are not counted. */
    attempts: number;
    /** Attempts it gets at most. */
    max_attempts: number;
    /** When the next attempt is due, or the one under way counts as lost. While `pending` only. ISO 8601, UTC. */
    next_attempt_at: string | null;
    /** Whether one more send was asked for and has not begun. */
    redelivery_due: boolean;
    /** When the task ended. ISO 8601, UTC. */
    created_at: string;
    /** Host and port it goes to. The rest of its address is its owner's alone. */
    host: string;
    /** Whose it is. */
    account: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The key that created its task. */
    key: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    payload: Schemas["TaskCallback"] | Schemas["GroupCallback"] | Record<string, unknown>;
    /** Every send, in order. */
    history: readonly ({
      /** From 1, attempts and redeliveries together. */
      sequence: number;
      /** Whether it counts as an attempt. */
      kind: string;
      /** When it began. ISO 8601, UTC. */
      started_at: string;
      /** When it was over; null while it is under way. ISO 8601, UTC. */
      ended_at: string | null;
      /** How long it took. */
      duration_ms: number | null;
      /** `delivered`: acknowledged. `refused`: answered with another status than 2xx. `unreachable`: no answer. `forbidden`: the address may not be called. `interrupted`: the service stopped meanwhile; it may have arrived. */
      outcome: string | null;
      /** HTTP status of the answer. */
      status: number | null;
      /** IP address it was sent to. Never that of a `forbidden` one. */
      address: string | null;
      /** How the answer's body begins. */
      answer: string | null;
      /** Why there was no answer. */
      error: string | null;
    })[];
  };
  ManagedModel: {
    /** What a request names in `model`. */
    id: string;
    /** What it makes. */
    kind: "image" | "video";
    /** For people. */
    name: string;
    /** For people. */
    description: string;
    /** Whether a provider makes it at present; a create is refused where not. */
    available: boolean;
    /** What it does, `text-to-image`. */
    modes: readonly (string)[];
    /** What it can make of an earlier result: `POST /v1/tasks/{task_id}/extend`, `/upscale`. */
    follow_ups: readonly (string)[];
    /** What holds of everything it makes, by names of fields that its schema does not have, with the values that mean it: `generate_audio: [true]`. A request may have one of these values there. Absent where nothing is said. */
    always?: Record<string, readonly (string | number | boolean)[]>;
    /** The fields that take images, videos and recordings of sound. */
    inputs: readonly ({
      /** A field of the create body that takes media. */
      field: string;
      /** What the media means to the model. */
      role: string;
      /** What it must be. */
      media: "image" | "video" | "audio";
    })[];
    price: Schemas["ModelPrice"];
    /** How long a task may take from its start. */
    deadline_seconds: number;
    /** Where its tasks are created. */
    create_path: string;
    /** The file in the server's data folder that it comes from; absent for one that is built in. */
    file?: string;
    /** The ways to run it, tried in this order; a request goes to the first that can do it exactly. */
    routes: readonly ({
      /** Id of the provider. */
      provider: string;
      /** The provider's name for the model. */
      upstream_model: string;
      /** Whether it can be taken. */
      available: boolean;
      needs: readonly (string)[];
      /** The modes it does; all unless told. */
      modes?: readonly (string)[];
      /** What it takes of some fields; the others it takes as the schema has them. False: nothing. */
      only?: Record<string, unknown>;
      /** What the provider said when it refused our key, our account or the model, where it refuses every account that is switched on. Until it works again. */
      refused?: string;
      /** When that began. Unix seconds. */
      refused_since?: number;
      /** Whether `troubles` are all accounts that are switched on; absent where there are none. */
      shut?: boolean;
      /** The accounts that get none of its tasks at present; absent where there are none. */
      troubles?: readonly ({
        /** The lane of the account. */
        account: string;
        /** Whether it gets tasks. `closed`: it does. `open`: it failed several times in a row. `half_open`: one task tries it. `refused`: the provider refuses the key, the account or the model. `spent`: the account has no money left there. `blocked`: an operator wants it so. `paused`: the provider asked for a pause. */
        state: string;
        /** What the provider or the operator said. */
        detail?: string;
        /** When that began. Unix seconds. */
        since?: number;
        /** When it is tried again; absent: now, or when somebody has seen to it. Unix seconds. */
        until?: number;
      })[];
    })[];
  };
  ManagedModelInFull: {
    /** What a request names in `model`. */
    id: string;
    /** What it makes. */
    kind: "image" | "video";
    /** For people. */
    name: string;
    /** For people. */
    description: string;
    /** Whether a provider makes it at present; a create is refused where not. */
    available: boolean;
    /** What it does, `text-to-image`. */
    modes: readonly (string)[];
    /** What it can make of an earlier result: `POST /v1/tasks/{task_id}/extend`, `/upscale`. */
    follow_ups: readonly (string)[];
    /** What holds of everything it makes, by names of fields that its schema does not have, with the values that mean it: `generate_audio: [true]`. A request may have one of these values there. Absent where nothing is said. */
    always?: Record<string, readonly (string | number | boolean)[]>;
    /** The fields that take images, videos and recordings of sound. */
    inputs: readonly ({
      /** A field of the create body that takes media. */
      field: string;
      /** What the media means to the model. */
      role: string;
      /** What it must be. */
      media: "image" | "video" | "audio";
    })[];
    price: Schemas["ModelPrice"];
    /** How long a task may take from its start. */
    deadline_seconds: number;
    /** Where its tasks are created. */
    create_path: string;
    /** The file in the server's data folder that it comes from; absent for one that is built in. */
    file?: string;
    /** The ways to run it, tried in this order; a request goes to the first that can do it exactly. */
    routes: readonly ({
      /** Id of the provider. */
      provider: string;
      /** The provider's name for the model. */
      upstream_model: string;
      /** Whether it can be taken. */
      available: boolean;
      needs: readonly (string)[];
      /** The modes it does; all unless told. */
      modes?: readonly (string)[];
      /** What it takes of some fields; the others it takes as the schema has them. False: nothing. */
      only?: Record<string, unknown>;
      /** What the provider said when it refused our key, our account or the model, where it refuses every account that is switched on. Until it works again. */
      refused?: string;
      /** When that began. Unix seconds. */
      refused_since?: number;
      /** Whether `troubles` are all accounts that are switched on; absent where there are none. */
      shut?: boolean;
      /** The accounts that get none of its tasks at present; absent where there are none. */
      troubles?: readonly ({
        /** The lane of the account. */
        account: string;
        /** Whether it gets tasks. `closed`: it does. `open`: it failed several times in a row. `half_open`: one task tries it. `refused`: the provider refuses the key, the account or the model. `spent`: the account has no money left there. `blocked`: an operator wants it so. `paused`: the provider asked for a pause. */
        state: string;
        /** What the provider or the operator said. */
        detail?: string;
        /** When that began. Unix seconds. */
        since?: number;
        /** When it is tried again; absent: now, or when somebody has seen to it. Unix seconds. */
        until?: number;
      })[];
    })[];
    /** JSON Schema (2020-12) of the create body. */
    schema: Record<string, unknown>;
  };
  ManagedPrice: {
    /** Id of the model. */
    model: string;
    /** Where the price comes from: the model's manifest, `pricing` in svc.yaml, or this API. */
    source: string;
    /** When it was set here. Unix seconds. */
    set_at: number | null;
    /** Why it was set. */
    reason: string | null;
    price: Schemas["PriceRule"];
    /** The fields of a request that has no price, and is refused; null: none is found. */
    unpriced: Record<string, unknown> | null;
  };
  ManagedProvider: {
    /** Id of the provider. */
    id: string;
    /** For people. */
    title: string;
    /** Whether a form describes it, or it is code. */
    kind: string;
    /** The form; absent for a provider that is code. */
    form?: {
      /** SHA-256 of its text, by which tasks keep to it. */
      hash: string;
      /** Whether it is the operator's, in the server's data folder. */
      own: boolean;
      /** The operator's file. */
      file?: string;
    };
    /** It is code; absent for a provider that a form describes. */
    code?: boolean;
    /** Whether an account of it is switched on. */
    available: boolean;
    /** What must be set to switch it on; empty for one that is on. */
    needs: readonly (string)[];
    accounts: readonly (Schemas["ProviderAccount"])[];
    /** Ids of the models with a route to it. */
    models: readonly (string)[];
  };
  ManagedProviderInFull: {
    /** Id of the provider. */
    id: string;
    /** For people. */
    title: string;
    /** Whether a form describes it, or it is code. */
    kind: string;
    /** The form; absent for a provider that is code. */
    form?: {
      /** SHA-256 of its text, by which tasks keep to it. */
      hash: string;
      /** Whether it is the operator's, in the server's data folder. */
      own: boolean;
      /** The operator's file. */
      file?: string;
    };
    /** It is code; absent for a provider that a form describes. */
    code?: boolean;
    /** Whether an account of it is switched on. */
    available: boolean;
    /** What must be set to switch it on; empty for one that is on. */
    needs: readonly (string)[];
    accounts: readonly (Schemas["ProviderAccount"])[];
    /** Ids of the models with a route to it. */
    models: readonly (string)[];
    /** What its form says: addresses, regions, kinds of credentials with the names of their variables, limits, flows and what they can do, meanings of refusals. Later versions add to it. */
    facts: Record<string, unknown>;
    /** What is wrong with its file, with line and column, with its settings and with kept keys of its accounts. */
    problems: readonly (string)[];
    routes: readonly ({
      /** Id of a model, or an alias of one. */
      model: string;
      /** What the provider calls the model. */
      upstream_model: string;
      /** What it said when it refused the key, the account or the model, where it refuses every account. */
      refused?: string;
      /** Since when. Unix seconds. */
      refused_since?: number;
      /** The accounts that get none of its tasks at present; absent where there are none. */
      troubles?: readonly ({
        /** The lane of the account. */
        account: string;
        /** Whether it gets tasks. `closed`: it does. `open`: it failed several times in a row. `half_open`: one task tries it. `refused`: the provider refuses the key, the account or the model. `spent`: the account has no money left there. `blocked`: an operator wants it so. `paused`: the provider asked for a pause. */
        state: string;
        /** What the provider or the operator said. */
        detail?: string;
        /** When that began. Unix seconds. */
        since?: number;
        /** When it is tried again; absent: now, or when somebody has seen to it. Unix seconds. */
        until?: number;
      })[];
    })[];
    /** The secrets that an account has, for each kind of account, the usual one first. */
    kinds: readonly (readonly (string)[])[];
    /** The text of its form, where it was asked for. */
    text?: string;
  };
  ManagedRoute: {
    /** Id of the provider. */
    provider: string;
    /** Name of its account; `default` for the customary variable's. */
    account: string;
    /** The queue of the account's tasks. */
    lane: string;
    /** The provider's name for the model. */
    upstream_model: string;
    /** Ids of the models that have a route to it. */
    models: readonly (string)[];
    /** Whether tasks are kept away because of what they met there: `open` also where the provider refuses us or the account has no money left. */
    breaker: string;
    /** Whether it gets tasks. `closed`: it does. `open`: it failed several times in a row. `half_open`: one task tries it. `refused`: the provider refuses the key, the account or the model. `spent`: the account has no money left there. `blocked`: an operator wants it so. `paused`: the provider asked for a pause. */
    state: string;
    /** What the provider or the operator said. */
    detail?: string;
    /** When that began. Unix seconds. */
    since?: number;
    /** When it is tried again; absent: now, or when somebody has seen to it. Unix seconds. */
    until?: number;
    /** Submissions that the account takes in a minute, as it is told or found out. */
    per_minute?: number;
    /** Tasks of the whole account that were sent and have not ended. */
    under_way: number;
    /** Most of these. */
    concurrency?: number;
    /** Tasks of these models that this account completed in the last hour. */
    completed: number;
    /** And those that failed there. */
    failed: number;
    /** The part of these that completed, 0 to 1. */
    success?: number;
    /** Half of those that completed in the last hour took no longer there. */
    p50_ms?: number;
    /** And 95 of 100. */
    p95_ms?: number;
    /** What the attempts that ended there today (UTC) cost the operator, as far as it is known. */
    spent_today: string;
  };
  ManagedSession: {
    /** Id of the session. */
    id: string;
    /** `link`: it waits for its browser. */
    state: "link" | "open";
    /** Whose screens it has. */
    role: "tenant" | "operator";
    /** The key or token that it acts as. */
    holder: {
      /** Its id. */
      id: string;
      /** What it was called when the session began. */
      name: string;
    };
    /** When it was made. Unix seconds. */
    created_at: number;
    /** When it ends. Unix seconds. */
    expires_at: number;
  };
  ManagedTask: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    /** What the task makes; it decides the path of its status. */
    kind: "image" | "video";
    /** Whose it is. */
    account: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The key that created it. */
    key: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The lane of the account that has it, had it, or gets it next. */
    provider: string;
  };
  ManagedTaskStory: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    /** What the task makes; it decides the path of its status. */
    kind: "image" | "video";
    /** `X-Request-ID` of the create. */
    request_id: string;
    /** The key that created it. */
    key: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    request: {
      /** The model's mode that the inputs chose. */
      mode: string;
      /** The whole prompt. */
      prompt?: string;
      /** Results asked for. */
      n: number;
      /** The model's other fields as they were given, with their defaults. */
      parameters: Record<string, unknown>;
      /** Media inputs, without their content. */
      inputs: readonly ({
        /** Path of the field that named it: `image_urls[2]`, or `task_id`. */
        field: string;
        media_type?: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/svg+xml" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
        size_bytes?: number;
        /** Pixels. */
        width?: number;
        /** Pixels. */
        height?: number;
        /** Of a video, a recording or an animated GIF. */
        duration_ms?: number;
        /** Its file here; before it is fetched, the address that was given, without its query. */
        url?: string;
      })[];
    };
    /** When the task fails unless it has ended. Once it was started. Unix seconds. */
    deadline_at?: number;
    /** Stages in order, as far as their times are known. */
    timeline: readonly ({
      /** `queued`: it waits, or its inputs are fetched. `submitting`: it is sent to a provider. `running`: the provider has it. `finalizing`: its files are fetched. `ended`. */
      stage: string;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      at: string;
      /** How long it took; of the last one, how long it has taken so far. */
      duration_ms?: number;
    })[];
    /** What to do about the error, in one sentence. With `failed` only. */
    advice?: string;
    /** Released or charged once the task has ended. */
    hold: {
      /** Held when the task was accepted: the most it can cost. */
      amount: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** Submissions to providers, in order. */
    attempts: readonly ({
      /** From 1. */
      number: number;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      started_at: string;
      /** When it was over. ISO 8601, UTC, with milliseconds. */
      ended_at?: string;
      /** `refused`: the provider did not take it, and it cost nothing. `unanswered`: its answer was lost. `failed` and not the last: the provider took it and failed, which cost nothing. Otherwise what became of the task with it. */
      outcome: string;
      error_code?: Schemas["TaskErrorCode"];
      /** What went wrong, safe to show. */
      message?: string;
      route: {
        /** The lane of its account: the provider, and `/` and the account where that is not `default`. */
        provider: string;
        /** What the provider calls the model. */
        upstream_model: string;
      };
      /** What went wrong, as it was noted for the operator. */
      detail?: string;
    })[];
    /** What is posted at the end of the task: one, or none. */
    callbacks: readonly ({
      /** Id of the callback; `GET /v1/callbacks/{id}` has each send. */
      id: string;
      /** The host it goes to. */
      host: string;
      /** Whether it was acknowledged, may still be, or is given up. */
      state: "pending" | "delivered" | "failed";
      /** Attempts begun so far. */
      attempts: number;
      /** When the next attempt is due. While `pending` only. ISO 8601, UTC, with milliseconds. */
      next_attempt_at?: string;
      /** HTTP status of the latest answer. */
      last_status?: number;
      /** What became of the latest send. */
      last_outcome?: string;
    })[];
    /** The lines that `usage.cost` is the sum of. Once the task was charged. */
    charge?: readonly ({
      /** The line of the price. */
      sku: string;
      /** In the units of that line. */
      quantity: number;
      /** What it came to. */
      amount: string;
    })[];
    /** Of a task that was refunded; `usage.cost` stays what it was. */
    refund?: {
      /** Given back of the charge, once. */
      amount: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** Whose it is. */
    account: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The lane of the account that has it, had it, or gets it next. */
    provider: string;
  };
  ManagedTaskTrace: {
    task: Schemas["ManagedTracedTask"];
    /** Submissions to providers, in order. */
    attempts: readonly ({
      /** From 1. */
      number: number;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      started_at: string;
      /** When it was over. ISO 8601, UTC, with milliseconds. */
      ended_at?: string;
      /** `refused`: the provider did not take it, and it cost nothing. `unanswered`: its answer was lost. `failed` and not the last: the provider took it and failed, which cost nothing. Otherwise what became of the task with it. */
      outcome: string;
      error_code?: Schemas["TaskErrorCode"];
      /** What went wrong, safe to show. */
      message?: string;
      /** Where its time was spent; the phases do not overlap, and what was not measured is absent. `queue`: until it was started. `connect`: until the connection was open. `upload`: inputs and body were sent. `submit`: the rest until the answer. `polls`: until the provider had made it. `fetch` and `store`: its files were fetched, checked and stored. */
      phases: {
        queue?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        connect?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        upload?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        submit?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        polls?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        fetch?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        store?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
      };
      /** The provider. */
      provider: string;
      /** Its account, `default` where it has no name; absent of a provider that was off altogether. */
      account: string;
      /** What the provider calls the model. */
      upstream_model: string;
      /** What is known of it at the provider. */
      state: string;
      /** What went wrong, as it was noted for the operator. */
      detail?: string;
      /** What it costs the operator, where that is known. */
      cost?: string;
      /** What the provider calls the job. */
      upstream_id?: string;
      /** Of its last answer to the submission. */
      http_status?: number;
      /** What the provider calls the request of that answer. */
      upstream_request_id?: string;
      /** The ways it was chosen among, where there was more than one. */
      routes_considered?: readonly ({
        /** The provider. */
        provider: string;
        /** Its account, `default` where it has no name; absent of a provider that was off altogether. */
        account?: string;
        /** What the provider calls the model. */
        upstream_model: string;
        /** Why it was taken or not. `standby`: another one came first by the policy, or because the task waited there. `tried`: the task was sent there before. `held_back`: it is for what would wait too long elsewhere. `not_asked_for`: the request names another route. `cannot`: it cannot do the request exactly. `off`: no account is switched on. Otherwise what was in the way. */
        verdict: string;
      })[];
    })[];
    /** What is posted at the end of the task: one, or none. */
    callbacks: readonly ({
      /** Id of the callback; `GET /v1/callbacks/{id}` has each send. */
      id: string;
      /** The host it goes to. */
      host: string;
      /** Whether it was acknowledged, may still be, or is given up. */
      state: "pending" | "delivered" | "failed";
      /** Attempts begun so far. */
      attempts: number;
      /** When the next attempt is due. While `pending` only. ISO 8601, UTC, with milliseconds. */
      next_attempt_at?: string;
      /** HTTP status of the latest answer. */
      last_status?: number;
      /** What became of the latest send. */
      last_outcome?: string;
    })[];
    /** The files of its inputs and of its result. */
    assets: readonly ({
      /** Its id. */
      id: string;
      role: "input" | "output";
      /** Place among the inputs, or in the result. */
      index: number;
      media_type: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/svg+xml" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
      size_bytes: number;
      /** Pixels. */
      width?: number;
      /** Pixels. */
      height?: number;
      /** Of a video, a recording or an animated GIF. */
      duration_ms?: number;
      /** Its file here. */
      url: string;
    })[];
    price: {
      /** The most it can cost, which was held when it was accepted. */
      amount: string;
      /** What it was charged. Once it has ended. */
      charged?: string;
      /** What was given back of it. Of a task that was refunded. */
      refunded?: string;
      /** Of every amount beside it. */
      currency: "USD";
      /** The lines that `charged` is the sum of. */
      lines: readonly ({
        /** The line of the price. */
        sku: string;
        /** In the units of that line. */
        quantity: number;
        /** What it came to. */
        amount: string;
      })[];
    };
    /** Of the last attempt; none before the first. */
    routes_considered: readonly ({
      /** The provider. */
      provider: string;
      /** Its account, `default` where it has no name; absent of a provider that was off altogether. */
      account?: string;
      /** What the provider calls the model. */
      upstream_model: string;
      /** Why it was taken or not. `standby`: another one came first by the policy, or because the task waited there. `tried`: the task was sent there before. `held_back`: it is for what would wait too long elsewhere. `not_asked_for`: the request names another route. `cannot`: it cannot do the request exactly. `off`: no account is switched on. Otherwise what was in the way. */
      verdict: string;
    })[];
  };
  ManagedTracedTask: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    /** What the task makes; it decides the path of its status. */
    kind: "image" | "video";
    /** `X-Request-ID` of the create. */
    request_id: string;
    /** The key that created it. */
    key: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    request: {
      /** The model's mode that the inputs chose. */
      mode: string;
      /** The whole prompt. */
      prompt?: string;
      /** Results asked for. */
      n: number;
      /** The model's other fields as they were given, with their defaults. */
      parameters: Record<string, unknown>;
      /** Media inputs, without their content. */
      inputs: readonly ({
        /** Path of the field that named it: `image_urls[2]`, or `task_id`. */
        field: string;
        media_type?: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/svg+xml" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
        size_bytes?: number;
        /** Pixels. */
        width?: number;
        /** Pixels. */
        height?: number;
        /** Of a video, a recording or an animated GIF. */
        duration_ms?: number;
        /** Its file here; before it is fetched, the address that was given, without its query. */
        url?: string;
      })[];
    };
    /** When the task fails unless it has ended. Once it was started. Unix seconds. */
    deadline_at?: number;
    /** Stages in order, as far as their times are known. */
    timeline: readonly ({
      /** `queued`: it waits, or its inputs are fetched. `submitting`: it is sent to a provider. `running`: the provider has it. `finalizing`: its files are fetched. `ended`. */
      stage: string;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      at: string;
      /** How long it took; of the last one, how long it has taken so far. */
      duration_ms?: number;
    })[];
    /** What to do about the error, in one sentence. With `failed` only. */
    advice?: string;
    /** Whose it is. */
    account: {
      /** Its id. */
      id: string;
      /** What people call it. */
      name: string;
    };
    /** The lane of the account that has it, had it, or gets it next. */
    provider: string;
  };
  ManagementToken: {
    /** Id of the token. */
    id: string;
    /** What people call it. */
    name: string;
    /** First and last characters, to recognise it by. */
    display: string;
    /** Only an active one is taken. */
    status: "active" | "expired" | "revoked";
    /** What it may do. */
    scopes: readonly (string)[];
    /** When it was made. Unix seconds. */
    created_at: number;
    /** From when on it is refused; null: never. Unix seconds. */
    expires_at: number | null;
    /** When it was taken last, to within a minute; null: never. Unix seconds. */
    last_used_at: number | null;
    /** When it was revoked. Unix seconds. */
    revoked_at: number | null;
  };
  ManagementTokenWithSecret: {
    /** Id of the token. */
    id: string;
    /** What people call it. */
    name: string;
    /** First and last characters, to recognise it by. */
    display: string;
    /** Only an active one is taken. */
    status: "active" | "expired" | "revoked";
    /** What it may do. */
    scopes: readonly (string)[];
    /** When it was made. Unix seconds. */
    created_at: number;
    /** From when on it is refused; null: never. Unix seconds. */
    expires_at: number | null;
    /** When it was taken last, to within a minute; null: never. Unix seconds. */
    last_used_at: number | null;
    /** When it was revoked. Unix seconds. */
    revoked_at: number | null;
    /** The token itself, shown this once. */
    token: string;
  };
  Manifest: {
    /** Id of the model. */
    model: string;
    /** Where it is in the server's data folder. */
    file: string;
    /** The file, in YAML. */
    text: string;
  };
  ManifestCheck: {
    /** The id of its model; null where it cannot be used. */
    model: string | null;
    /** In the order of the text. */
    findings: readonly ({
      /** From 1. */
      line: number;
      /** From 1. */
      column: number;
      /** What is wrong, or may have been meant otherwise. */
      message: string;
    })[];
  };
  McpMessage: {
    jsonrpc: "2.0";
    id?: string | number;
    method?: string;
    params?: Record<string, unknown>;
    result?: Record<string, unknown>;
    error?: Record<string, unknown>;
  };
  McpMessages: Schemas["McpMessage"] | readonly (Schemas["McpMessage"])[];
  Model: {
    /** What a request names in `model`. */
    id: string;
    /** What it makes. */
    kind: "image" | "video";
    /** For people. */
    name: string;
    /** For people. */
    description: string;
    /** Whether a provider makes it at present; a create is refused where not. */
    available: boolean;
    /** What it does, `text-to-image`. */
    modes: readonly (string)[];
    /** What it can make of an earlier result: `POST /v1/tasks/{task_id}/extend`, `/upscale`. */
    follow_ups: readonly (string)[];
    /** What holds of everything it makes, by names of fields that its schema does not have, with the values that mean it: `generate_audio: [true]`. A request may have one of these values there. Absent where nothing is said. */
    always?: Record<string, readonly (string | number | boolean)[]>;
    /** The fields that take images, videos and recordings of sound. */
    inputs: readonly ({
      /** A field of the create body that takes media. */
      field: string;
      /** What the media means to the model. */
      role: string;
      /** What it must be. */
      media: "image" | "video" | "audio";
    })[];
    price: Schemas["ModelPrice"];
    /** How long a task may take from its start. */
    deadline_seconds: number;
    /** Where its tasks are created. */
    create_path: string;
  };
  ModelInFull: {
    /** What a request names in `model`. */
    id: string;
    /** What it makes. */
    kind: "image" | "video";
    /** For people. */
    name: string;
    /** For people. */
    description: string;
    /** Whether a provider makes it at present; a create is refused where not. */
    available: boolean;
    /** What it does, `text-to-image`. */
    modes: readonly (string)[];
    /** What it can make of an earlier result: `POST /v1/tasks/{task_id}/extend`, `/upscale`. */
    follow_ups: readonly (string)[];
    /** What holds of everything it makes, by names of fields that its schema does not have, with the values that mean it: `generate_audio: [true]`. A request may have one of these values there. Absent where nothing is said. */
    always?: Record<string, readonly (string | number | boolean)[]>;
    /** The fields that take images, videos and recordings of sound. */
    inputs: readonly ({
      /** A field of the create body that takes media. */
      field: string;
      /** What the media means to the model. */
      role: string;
      /** What it must be. */
      media: "image" | "video" | "audio";
    })[];
    price: Schemas["ModelPrice"];
    /** How long a task may take from its start. */
    deadline_seconds: number;
    /** Where its tasks are created. */
    create_path: string;
    /** JSON Schema (2020-12) of the create body. */
    schema: Record<string, unknown>;
  };
  ModelPrice: {
    /** Of every amount beside it. */
    currency: "USD";
    /** Changes with the prices; a task keeps those it was accepted with. */
    version: string;
    lines: readonly ({
      /** What is sold. */
      sku: string;
      /** What is counted: images and videos, seconds of each, megapixels of each (1024 × 1024 pixels, begun ones count), tokens that go in, as the provider reports them, tokens that come out, as the provider reports them. */
      unit: string;
      /** Price of one unit, or of `per` units. */
      amount: string;
      /** Units that one such amount is for; 1 where absent. */
      per?: number;
      /** Units of an output that are held where the request does not tell; charged is what it has. */
      most?: number;
      /** The parameters a request must have for this line to apply; of a list, any. `mode` is the mode of the request, unless the model has a parameter of that name. A request is charged for every line that applies. */
      when?: Record<string, unknown>;
    })[];
    /** The least a task costs that delivers anything. */
    minimum?: string;
    /** What every line, and the minimum, is charged times for this API key; 1 where absent. */
    multiplier?: string;
  };
  Node: {
    /** Another one at each start. */
    id: string;
    /** Of its machine, unless `node_name` is set there. */
    name: string;
    /** What it does: everything, the API alone, or the work alone. */
    role: "all" | "api" | "worker";
    /** Of the program. */
    version: string;
    /** A node that is draining takes no new tasks. Others have taken over from one that is gone. */
    state: "working" | "draining" | "gone";
    /** When it started. Unix seconds. */
    started_at: number;
    /** When it was heard of last, by the clock of the database. Unix seconds. */
    seen_at: number;
  };
  Overview: {
    server: {
      /** Version of the program. */
      version: string;
      /** Name of the machine. */
      node: string;
      /** When this process started. Unix seconds. */
      started_at: number;
      /** The server's clock. Unix seconds. */
      time: number;
      /** Why no new tasks are taken, as `/readyz` says it; null while they are. */
      not_ready: string | null;
    };
    windows: {
      /** Whole seconds since the start: the number of the latest one in `by_second`. */
      seconds: number;
      /** Since when requests and creates are counted: a minute, or the start. Unix seconds. */
      minute_since: number;
      /** Since when ends of tasks and spend are counted: an hour, to the minute, or as far back as a start could read. Unix seconds. */
      hour_since: number;
    };
    requests: {
      /** Requests answered in the last minute, whatever they asked for. */
      per_second: number;
      by_class: {
        /** Of them, with a status 2xx. */
        "2xx": number;
        /** Of them, with a status 3xx. */
        "3xx": number;
        /** Of them, with a status 4xx. */
        "4xx": number;
        /** Of them, with a status 5xx. */
        "5xx": number;
      };
      /** Requests answered in each of the latest whole seconds since the start, oldest first. */
      by_second: readonly (number)[];
    };
    creates: {
      /** Tasks accepted in the last minute; repeated answers are not counted. */
      per_second: number;
      /** Tasks accepted in each of the latest whole seconds since the start, oldest first. */
      by_second: readonly (number)[];
    };
    tasks: {
      /** Tasks that wait, in all lanes. */
      queued: number;
      /** Tasks between submission and end, in all lanes. */
      under_way: number;
      /** How many may be under way in all lanes together. */
      limit: number;
    };
    /** By name: every account that is switched on, or has tasks. */
    lanes: readonly ({
      /** The account whose queue it is: its provider, and `/` and its name where that is not `default`. */
      lane: string;
      /** Tasks that wait. */
      queued: number;
      /** How long ago the oldest of them was created. Seconds; null where there is none. */
      oldest_seconds: number | null;
      /** Tasks between submission and end. Those whose results could not be fetched yet do not count in the limit. */
      under_way: number;
      /** How many may be under way; null: the account is switched off. */
      limit: number | null;
    })[];
    /** By name. */
    providers: readonly ({
      /** The lane of the account. */
      provider: string;
      /** Tasks that were completed in the last hour. */
      completed: number;
      /** Tasks that failed in the last hour. */
      failed: number;
      /** Completed ones among both; null where none ended. */
      success_rate: number | null;
      /** Upstream models that it refuses this server, until the operator puts that right; `*`: every one. */
      refused: readonly (string)[];
    })[];
    /** By id: every model of which a task ended in the last hour. */
    models: readonly ({
      /** Id of the model. */
      model: string;
      /** Tasks that were completed in the last hour. */
      completed: number;
      /** Tasks that failed in the last hour. */
      failed: number;
      /** Completed ones among both; null where none ended. */
      success_rate: number | null;
      /** From create to end, of half of the completed ones. Milliseconds, within 5 %; null where none was. */
      p50_ms: number | null;
      /** The same of 95 in 100. */
      p95_ms: number | null;
    })[];
    /** By name: checks of content that were asked in the last hour. */
    checks: readonly ({
      /** Name of the check. */
      check: string;
      /** Requests that it let pass. */
      allowed: number;
      /** Requests that it refused. */
      refused: number;
      /** Requests of which it could not tell. */
      outages: number;
      /** How long half of its verdicts took. Milliseconds, within 5 %; null without any. */
      p50_ms: number | null;
    })[];
    callbacks: {
      /** Callbacks still to be sent, those under way and redeliveries included. */
      owed: number;
      /** How long ago the oldest of them was created. Seconds; null where there is none. */
      oldest_seconds: number | null;
    };
    spend: {
      /** Charged for the tasks of the last hour. */
      hour: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    memory: {
      /** What the process holds in memory. Bytes. */
      rss_bytes: number;
      /** What its JavaScript objects take of it. Bytes. */
      heap_bytes: number;
    };
    loop: {
      /** How late the event loop came to its timers in the last ten seconds: the median. Milliseconds. */
      lag_p50_ms: number;
      /** The same: the latest. */
      lag_max_ms: number;
    };
    disk: {
      /** What the disk of the data folder has left. Bytes. */
      free_bytes: number;
      /** Size of the database, without stored files. Bytes. */
      data_bytes: number;
      /** Size of its write-ahead log. Bytes. */
      wal_bytes: number;
    };
    open: {
      /** Calls that wait for their answer. */
      waits: number;
      /** Event streams. */
      streams: number;
    };
  };
  OwnUsage: {
    /** What each row is of. */
    by: string;
    /** First day, UTC. */
    since: string;
    /** Last day, UTC. */
    until: string;
    /** Of every amount beside it. */
    currency: "USD";
    rows: readonly ({
      /** By day: the day. */
      day?: string;
      /** By model: its id. */
      model?: string;
      /** By key: its id. */
      key_id?: string;
      /** Its name. */
      key?: string;
      /** Tasks that were completed. */
      completed: number;
      /** Tasks that failed. */
      failed: number;
      /** Tasks that were cancelled. */
      cancelled: number;
      /** Images and videos made. */
      outputs: number;
      /** What was charged. */
      charged: string;
    })[];
    total: {
      /** Tasks that were completed. */
      completed: number;
      /** Tasks that failed. */
      failed: number;
      /** Tasks that were cancelled. */
      cancelled: number;
      /** Images and videos made. */
      outputs: number;
      /** What was charged. */
      charged: string;
    };
  };
  Preview: {
    /** Public id of the task. */
    task_id: string;
    /** Which of the early versions of its output, from 0. */
    index: number;
    /** Place of the output in `result`, where the provider tells. */
    output_index?: number;
    media_type: "image/png" | "image/jpeg" | "image/webp";
    /** The image as base64, without a `data:` prefix. */
    b64_json: string;
  };
  PriceRule: {
    /** Changes with the prices; a task keeps those it was accepted with. */
    version: string;
    lines: readonly ({
      /** What is sold. */
      sku: string;
      /** What is counted: images and videos, seconds of each, megapixels of each (1024 × 1024 pixels, begun ones count), tokens that go in, as the provider reports them, tokens that come out, as the provider reports them. */
      unit: string;
      /** Price of one unit, or of `per` units. */
      amount: string;
      /** Units that one such amount is for; 1 where absent. */
      per?: number;
      /** Units of an output that are held where the request does not tell; charged is what it has. */
      most?: number;
      /** The parameters a request must have for this line to apply; of a list, any. `mode` is the mode of the request, unless the model has a parameter of that name. A request is charged for every line that applies. */
      when?: Record<string, unknown>;
    })[];
    /** The least a task costs that delivers anything. */
    minimum?: string;
  };
  ProviderAccount: {
    /** Its name; `default` for the customary variable's. */
    name: string;
    /** The queue of its tasks. */
    lane: string;
    /** Where its key is. `settings`: in a variable or a file that the settings name. `kept`: sealed in the data folder; it can be removed here. `none`: it needs none. */
    key_from: string;
    /** Where its tasks are made; absent: the usual one. */
    region?: string;
    /** The address of the API that it is reached at. */
    base_url?: string;
    /** Most of its tasks under way. */
    concurrency?: number;
  };
  ProviderTest: {
    /** Id of the provider. */
    provider: string;
    /** Name of the account. */
    account: string;
    /** The queue of its tasks. */
    lane: string;
    /** `refused`: the key, the account or the region is wrong. `spent`: no money is left there. `untested`: it has no call that proves a key and makes nothing. */
    result: string;
    /** How long it took. */
    took_ms: number;
    /** What the provider said, unless all is well. */
    detail?: string;
    /** What is left there, in the provider's own unit. */
    balance?: number;
    /** The same in USD, where it is known what a unit is worth. */
    balance_usd?: string;
    /** What models need there and it does not have, such as nodes and files. */
    lacks?: readonly (string)[];
  };
  Quote: {
    /** As in an estimate: whether the price is known, and if not, why. */
    status: string;
    /** Of every amount beside it. */
    currency: "USD";
    /** The least. */
    min_cost: string | null;
    /** The most; what a create would hold. */
    max_cost: string | null;
    line_items: readonly ({
      /** What is sold; `minimum` is what makes up for the least a task costs. */
      sku: string;
      /** What one unit is. */
      unit: string;
      /** How many units, at the most. */
      quantity: number;
      /** Price of one, or of `per`, before the multiplier. */
      unit_price: string;
      /** Units that one such amount is for; 1 where absent. */
      per?: number;
      /** Price of all. The amounts of all lines add up to `max_cost`. */
      amount: string;
      /** For people. */
      detail: string | null;
    })[];
    /** Fields that decide the price and were not given. */
    missing: readonly (string)[];
    /** What every line, and the minimum, is charged times for this API key; 1 where absent. */
    multiplier?: string;
  };
  RedeliverCallbacks: {
    /** The callback of this task; goes with no other field. */
    task_id?: string;
    /** Created then or later: ISO 8601, such as 2026-11-21T14:00:00Z, or Unix seconds. */
    from?: string | number;
    /** Created before: ISO 8601 or Unix seconds. */
    to?: string | number;
    /** Callbacks in one state. */
    state?: "pending" | "delivered" | "failed";
    /** `next` of the page before. */
    after?: string;
  };
  Refund: {
    /** The task. */
    task_id: string;
    /** Given back. */
    refunded: string;
    /** Of every amount beside it. */
    currency: "USD";
    account: Schemas["Account"];
  };
  ReloadedSettings: {
    /** Whether they were taken up. Where anything is wrong, the settings of before stay in force. */
    in_force: boolean;
    /** Those that are others now. */
    changed: readonly (string)[];
    /** Those that are others in the file, and wait for a restart. */
    restart: readonly (string)[];
    /** Empty where they were taken up. */
    problems: readonly (string)[];
  };
  RemovedManifest: {
    /** Id of the model. */
    model: string;
    /** Where it is in the server's data folder. */
    file: string;
  };
  ReplicateCollection: {
    /** For people. */
    name: string;
    /** A mode of models, `text-to-image` say. */
    slug: string;
    /** The models that have it. */
    description: string;
  };
  ReplicateCollectionInFull: {
    /** For people. */
    name: string;
    /** A mode of models, `text-to-image` say. */
    slug: string;
    /** The models that have it. */
    description: string;
    models: readonly (Schemas["ReplicateModel"])[];
  };
  ReplicateDeployment: {
    /** The owner that it was asked for by. */
    owner: string;
    /** The name that it was asked for by. */
    name: string;
    current_release: {
      /** Always 1. */
      number: number;
      /** `svc/` and the id of the model. */
      model: string;
      /** The version of the model. */
      version: string;
      /** When this service began to run. */
      created_at: string;
      /** Not told. */
      created_by: null;
      configuration: {
        /** The one that there is. */
        hardware: string;
        /** Always 0. */
        min_instances: number;
        /** Always 1: what is made at once is the provider's matter. */
        max_instances: number;
      };
    };
  };
  ReplicateError: {
    /** What kind of error it is. */
    title: string;
    /** For people, safe to show. */
    detail: string;
    /** The HTTP status. */
    status: number;
    /** This service's own code for it, beside what that API tells. */
    code: string;
    /** The field at fault, where one is. */
    invalid_fields?: readonly (Schemas["ReplicateInvalidField"])[];
    /** Seconds to wait before the next try. */
    retry_after?: number;
  };
  ReplicateFile: {
    /** Id of the file. */
    id: string;
    /** As it was given as `filename`, or else its id with an ending. */
    name: string;
    /** By its content. */
    content_type: string;
    /** Bytes. */
    size: number;
    /** Names the content. */
    etag: string;
    checksums: {
      /** Of what is stored. */
      sha256: string;
    };
    /** What was given with the upload; its answer alone has it. */
    metadata: Record<string, unknown>;
    /** When it was uploaded. */
    created_at: string;
    /** When it goes. */
    expires_at: string;
    urls: {
      /** Where it is read, and what stands for it in inputs. */
      get: string;
    };
  };
  ReplicateInvalidField: {
    /** What is wrong with it: `required`, `additional_property_not_allowed` or `invalid_value`. */
    type: string;
    /** Its path in the body: `input.seed`. */
    field: string;
    /** The same as `detail`. */
    description: string;
  };
  ReplicateModel: {
    /** Its page in the console. */
    url: string;
    /** `svc`, or the owner that it was asked for by. */
    owner: string;
    /** Its id, or the name that it was asked for by. */
    name: string;
    /** What it does. */
    description: string;
    visibility: "public";
    /** Always `true`: it can be asked for without a version. */
    is_official: boolean;
    /** Not counted. */
    run_count: number;
    /** There is none. */
    github_url: null;
    /** There is none. */
    paper_url: null;
    /** There is none. */
    license_url: null;
    /** There is none. */
    cover_image_url: null;
    /** There is none. */
    default_example: null;
    latest_version: Schemas["ReplicateVersion"];
  };
  ReplicatePrediction: {
    /** Id of the prediction, which is the id of its task. */
    id: string;
    /** `svc/` and the id of the model. */
    model: string;
    /** The version of the model, or `hidden` where the model is gone. */
    version: string;
    /** What was asked for, by the model's own names; files by their addresses here. */
    input: Record<string, unknown>;
    /** How far it is, as a progress bar; then why it failed. */
    logs: string;
    /** The address of what was made, or a list of them where the model can make several images. */
    output: string | readonly (string)[] | null;
    /** Whether its files were removed. */
    data_removed: boolean;
    /** Why it failed. */
    error: string | null;
    source: "api";
    status: "starting" | "processing" | "succeeded" | "failed" | "canceled";
    /** When the task was accepted. */
    created_at: string;
    /** When it was first submitted. */
    started_at?: string;
    /** When it ended. */
    completed_at?: string;
    /** When it is cancelled, where `Cancel-After` said so. */
    deadline?: string;
    metrics?: {
      /** Seconds from its start to its end. */
      predict_time?: number;
      /** Seconds from its create to its end. */
      total_time: number;
    };
    urls: {
      /** Where it is read. */
      get: string;
      /** Where it is cancelled. */
      cancel: string;
      /** Where its events are read, without a key, for a day. */
      stream: string;
      /** Its page in the console. */
      web: string;
    };
  };
  ReplicateVersion: {
    /** 64 hexadecimal digits, which change when what the model takes does. */
    id: string;
    /** When this service began to run. */
    created_at: string;
    /** The version of Cog whose schemas these are like. */
    cog_version: "0.3.9";
    /** `components.schemas` has `Input` and `Output` of the model. */
    openapi_schema: Record<string, unknown>;
  };
  ResetPrice: {
    /** Id of the model. */
    model: string;
    /** Where the price comes from: the model's manifest, `pricing` in svc.yaml, or this API. */
    source: string;
    /** When it was set here. Unix seconds. */
    set_at: number | null;
    /** Why it was set. */
    reason: string | null;
    price: Schemas["PriceRule"];
    /** The fields of a request that has no price, and is refused; null: none is found. */
    unpriced: Record<string, unknown> | null;
    /** Whether a price was set until now. */
    was_set: boolean;
  };
  ResultIssue: {
    /** Its position among the results asked for, from 0. */
    index: number;
    /** Why it is missing, in the words of `error_code`; or `FILE_DAMAGED`: its file was found damaged later, and `result` still has its address. */
    code: string;
    /** The same for people, safe to show. */
    message: string;
  };
  RetryTask: Record<string, unknown>;
  Service: {
    /** Of the program. */
    name: string;
    /** Of the program, and of this description. */
    version: string;
    /** Path of this description as a page. */
    docs: string;
    /** Path of this description. */
    openapi: string;
  };
  Settings: {
    /** All of them, in the order of `svc help settings`. */
    settings: readonly ({
      /** Its place in svc.yaml; of a key that only a variable may hold, the variable. */
      key: string;
      /** What it decides; null for keys in variables and for parts of svc.yaml. */
      description: string | null;
      /** As svc.yaml has it, or null where it is unset. `[secret]` stands for a secret. */
      value: unknown;
      /** Where its value was given. */
      source: string;
      /** The flag, the variable, or file, line and column. */
      where: string | null;
      /** The default, in words. */
      default: string | null;
      /** Why another value needs a restart; null where it comes into force at once. */
      restart: string | null;
    })[];
  };
  TaskCallback: {
    /** Public id of the task. */
    task_id: string;
    /** `X-Request-ID` of the create. */
    request_id: string;
    /** Branch on this. */
    status: "completed" | "failed";
    /** URLs of what was made. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    error_code?: Schemas["TaskErrorCode"];
    /** ISO 8601, UTC. */
    created_at: string;
    /** ISO 8601, UTC. */
    completed_at: string;
  };
  TaskErrorCode: string;
  TaskStory: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    /** What the task makes; it decides the path of its status. */
    kind: "image" | "video";
    /** `X-Request-ID` of the create. */
    request_id: string;
    /** The key that created it. */
    key: {
      /** Id of the key. */
      id: string;
      /** What people call it. */
      name: string;
    };
    request: {
      /** The model's mode that the inputs chose. */
      mode: string;
      /** The whole prompt. */
      prompt?: string;
      /** Results asked for. */
      n: number;
      /** The model's other fields as they were given, with their defaults. */
      parameters: Record<string, unknown>;
      /** Media inputs, without their content. */
      inputs: readonly ({
        /** Path of the field that named it: `image_urls[2]`, or `task_id`. */
        field: string;
        media_type?: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/svg+xml" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
        size_bytes?: number;
        /** Pixels. */
        width?: number;
        /** Pixels. */
        height?: number;
        /** Of a video, a recording or an animated GIF. */
        duration_ms?: number;
        /** Its file here; before it is fetched, the address that was given, without its query. */
        url?: string;
      })[];
      /** Where the end of the task is posted. */
      callback_url?: string;
    };
    /** When the task fails unless it has ended. Once it was started. Unix seconds. */
    deadline_at?: number;
    /** Stages in order, as far as their times are known. */
    timeline: readonly ({
      /** `queued`: it waits, or its inputs are fetched. `submitting`: it is sent to a provider. `running`: the provider has it. `finalizing`: its files are fetched. `ended`. */
      stage: string;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      at: string;
      /** How long it took; of the last one, how long it has taken so far. */
      duration_ms?: number;
    })[];
    /** What to do about the error, in one sentence. With `failed` only. */
    advice?: string;
    /** Released or charged once the task has ended. */
    hold: {
      /** Held when the task was accepted: the most it can cost. */
      amount: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** Submissions to providers, in order. */
    attempts: readonly ({
      /** From 1. */
      number: number;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      started_at: string;
      /** When it was over. ISO 8601, UTC, with milliseconds. */
      ended_at?: string;
      /** `refused`: the provider did not take it, and it cost nothing. `unanswered`: its answer was lost. `failed` and not the last: the provider took it and failed, which cost nothing. Otherwise what became of the task with it. */
      outcome: string;
      error_code?: Schemas["TaskErrorCode"];
      /** What went wrong, safe to show. */
      message?: string;
    })[];
    /** What is posted at the end of the task: one, or none. */
    callbacks: readonly ({
      /** Id of the callback; `GET /v1/callbacks/{id}` has each send. */
      id: string;
      /** The host it goes to. */
      host: string;
      /** Whether it was acknowledged, may still be, or is given up. */
      state: "pending" | "delivered" | "failed";
      /** Attempts begun so far. */
      attempts: number;
      /** When the next attempt is due. While `pending` only. ISO 8601, UTC, with milliseconds. */
      next_attempt_at?: string;
      /** HTTP status of the latest answer. */
      last_status?: number;
      /** What became of the latest send. */
      last_outcome?: string;
    })[];
    /** The lines that `usage.cost` is the sum of. Once the task was charged. */
    charge?: readonly ({
      /** The line of the price. */
      sku: string;
      /** In the units of that line. */
      quantity: number;
      /** What it came to. */
      amount: string;
    })[];
    /** Of a task that was refunded; `usage.cost` stays what it was. */
    refund?: {
      /** Given back of the charge, once. */
      amount: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
  };
  TaskTrace: {
    task: Schemas["TracedTask"];
    /** Submissions to providers, in order. */
    attempts: readonly ({
      /** From 1. */
      number: number;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      started_at: string;
      /** When it was over. ISO 8601, UTC, with milliseconds. */
      ended_at?: string;
      /** `refused`: the provider did not take it, and it cost nothing. `unanswered`: its answer was lost. `failed` and not the last: the provider took it and failed, which cost nothing. Otherwise what became of the task with it. */
      outcome: string;
      error_code?: Schemas["TaskErrorCode"];
      /** What went wrong, safe to show. */
      message?: string;
      /** Where its time was spent; the phases do not overlap, and what was not measured is absent. `queue`: until it was started. `connect`: until the connection was open. `upload`: inputs and body were sent. `submit`: the rest until the answer. `polls`: until the provider had made it. `fetch` and `store`: its files were fetched, checked and stored. */
      phases: {
        queue?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        connect?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        upload?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        submit?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        polls?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        fetch?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
        store?: {
          /** How long it took, or has taken so far. */
          duration_ms: number;
          /** Of polls: how many, since the server was started last. */
          count?: number;
          /** Of polls: how many had no good answer, so that they were made again; absent for none. */
          failed?: number;
        };
      };
    })[];
    /** What is posted at the end of the task: one, or none. */
    callbacks: readonly ({
      /** Id of the callback; `GET /v1/callbacks/{id}` has each send. */
      id: string;
      /** The host it goes to. */
      host: string;
      /** Whether it was acknowledged, may still be, or is given up. */
      state: "pending" | "delivered" | "failed";
      /** Attempts begun so far. */
      attempts: number;
      /** When the next attempt is due. While `pending` only. ISO 8601, UTC, with milliseconds. */
      next_attempt_at?: string;
      /** HTTP status of the latest answer. */
      last_status?: number;
      /** What became of the latest send. */
      last_outcome?: string;
    })[];
    /** The files of its inputs and of its result. */
    assets: readonly ({
      /** Its id. */
      id: string;
      role: "input" | "output";
      /** Place among the inputs, or in the result. */
      index: number;
      media_type: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/svg+xml" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
      size_bytes: number;
      /** Pixels. */
      width?: number;
      /** Pixels. */
      height?: number;
      /** Of a video, a recording or an animated GIF. */
      duration_ms?: number;
      /** Its file here. */
      url: string;
    })[];
    price: {
      /** The most it can cost, which was held when it was accepted. */
      amount: string;
      /** What it was charged. Once it has ended. */
      charged?: string;
      /** What was given back of it. Of a task that was refunded. */
      refunded?: string;
      /** Of every amount beside it. */
      currency: "USD";
      /** The lines that `charged` is the sum of. */
      lines: readonly ({
        /** The line of the price. */
        sku: string;
        /** In the units of that line. */
        quantity: number;
        /** What it came to. */
        amount: string;
      })[];
    };
  };
  TracedTask: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error_message?: string;
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
    /** What the task makes; it decides the path of its status. */
    kind: "image" | "video";
    /** `X-Request-ID` of the create. */
    request_id: string;
    /** The key that created it. */
    key: {
      /** Id of the key. */
      id: string;
      /** What people call it. */
      name: string;
    };
    request: {
      /** The model's mode that the inputs chose. */
      mode: string;
      /** The whole prompt. */
      prompt?: string;
      /** Results asked for. */
      n: number;
      /** The model's other fields as they were given, with their defaults. */
      parameters: Record<string, unknown>;
      /** Media inputs, without their content. */
      inputs: readonly ({
        /** Path of the field that named it: `image_urls[2]`, or `task_id`. */
        field: string;
        media_type?: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/svg+xml" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
        size_bytes?: number;
        /** Pixels. */
        width?: number;
        /** Pixels. */
        height?: number;
        /** Of a video, a recording or an animated GIF. */
        duration_ms?: number;
        /** Its file here; before it is fetched, the address that was given, without its query. */
        url?: string;
      })[];
      /** Where the end of the task is posted. */
      callback_url?: string;
    };
    /** When the task fails unless it has ended. Once it was started. Unix seconds. */
    deadline_at?: number;
    /** Stages in order, as far as their times are known. */
    timeline: readonly ({
      /** `queued`: it waits, or its inputs are fetched. `submitting`: it is sent to a provider. `running`: the provider has it. `finalizing`: its files are fetched. `ended`. */
      stage: string;
      /** When it began. ISO 8601, UTC, with milliseconds. */
      at: string;
      /** How long it took; of the last one, how long it has taken so far. */
      duration_ms?: number;
    })[];
    /** What to do about the error, in one sentence. With `failed` only. */
    advice?: string;
  };
  TrailEntry: {
    /** Later entries have higher numbers. */
    number: number;
    /** When it was done. Unix seconds. */
    at: number;
    /** Who did it. */
    actor: {
      /** `token`: over HTTP. `local`: a command on the data folder. `file`: the settings file. `system`: the service itself. */
      kind: string;
      /** The token's. */
      id: string | null;
      /** Of the token, or of the machine's user; as it was then. */
      name: string | null;
    };
    /** `account.create`: An account was made. `account.update`: The terms of an account were changed. `account.suspend`: An account's keys are refused. `account.activate`: An account's keys are taken again. `account.credit`: An account's balance was moved by hand. `account.purge`: Everything of an account but its money was removed. `key.create`: An API key was made. `key.update`: What an API key may do was changed. `key.rotate`: An API key got a new secret. `key.revoke`: An API key is refused for good. `token.create`: A management token was made. `token.revoke`: A management token is refused for good. `session.end`: A browser's session of the console was ended, or a link to it taken back. `price.set`: The price of a model was set. `price.reset`: The price that was set for a model was removed. `model.write`: The file of a model of the operator's own was written. `model.remove`: The file of a model of the operator's own was removed. `task.cancel`: A task was cancelled by an operator. `task.refund`: A task's charge was given back. `callback.redeliver`: A callback is sent once more for an operator. `route.block`: A route, or an account of a provider, gets no tasks. `route.allow`: What was known against a route was forgotten. `provider.add`: The key of an account of a provider was kept. `provider.remove`: The kept key of an account of a provider was removed. `backup.create`: The data folder is backed up for an operator. `files.collect`: Stored files that no task has are removed for an operator. `files.verify`: Stored files are compared with their hashes, and what is damaged is noted. `database.vacuum`: The database is written anew without its free pages. `database.migrate`: The database was brought up to date. `backup.restore`: The data folder was made of a backup; what came before is the backup's. `settings.change`: The server took up another settings file. `settings.reload`: A server was told to take up its settings. `log.level`: How much the server logs was changed for a while. */
    action: string;
    /** What was changed. */
    object: {
      /** What it is. */
      kind: string;
      /** Its id; of a route the lane, and after a colon the provider's name for the model. */
      id: string;
      /** As it was called then. */
      name: string | null;
    };
    /** What changed, as it was; null where there was nothing. Never a secret. */
    before: Record<string, unknown> | null;
    /** What changed, as it is since; null where nothing is left. Never a secret. */
    after: Record<string, unknown> | null;
  };
  UploadFileForm: {
    /** The file. */
    file: string;
    /** What to call it. */
    name?: string;
  };
  UploadedFile: {
    /** Id of the file. */
    id: string;
    /** Where the file can be read without a key, and what a create takes in any field for a file of its kind. */
    url: string;
    /** What the upload called it. */
    name: string | null;
    /** What the content is. */
    media_type: "image/png" | "image/jpeg" | "image/webp" | "video/mp4" | "video/webm" | "audio/wav" | "audio/mpeg" | "audio/mp4" | "audio/ogg";
    /** As it is stored: without metadata of the original. */
    size_bytes: number;
    /** Pixels; null for sound. */
    width: number | null;
    /** Pixels; null for sound. */
    height: number | null;
    /** Of videos and sound. */
    duration_ms: number | null;
    /** When it was uploaded. Unix seconds. */
    created_at: number;
    /** When it goes. Unix seconds. */
    expires_at: number;
  };
  UpscaleTask: {
    /** Id or alias of a model that can. */
    model?: string;
    /** Which result of the task, from 0. */
    index?: number;
  };
  Usage: {
    /** What each row is of. */
    by: string;
    /** First day, UTC. */
    since: string;
    /** Last day, UTC. */
    until: string;
    /** Of every amount beside it. */
    currency: "USD";
    rows: readonly ({
      /** By day: the day. */
      day?: string;
      /** By model: its id. */
      model?: string;
      /** By provider: the lane of the account that had the tasks last. */
      provider?: string;
      /** By account and by key: the account. */
      account_id?: string;
      /** Its name. */
      account?: string;
      /** By key: its id. */
      key_id?: string;
      /** Its name. */
      key?: string;
      /** Tasks that were completed. */
      completed: number;
      /** Tasks that failed. */
      failed: number;
      /** Tasks that were cancelled. */
      cancelled: number;
      /** Images and videos made. */
      outputs: number;
      /** Submissions that got no answer and were made again (`on_unknown: resubmit`). */
      resubmitted: number;
      /** What was charged, before refunds. */
      charged: string;
      /** What upstreams charged the operator; null: not known. */
      upstream_cost: string | null;
      /** What was charged for the tasks whose cost is known, less that. Before refunds. */
      margin: string | null;
    })[];
    total: {
      /** Tasks that were completed. */
      completed: number;
      /** Tasks that failed. */
      failed: number;
      /** Tasks that were cancelled. */
      cancelled: number;
      /** Images and videos made. */
      outputs: number;
      /** Submissions that got no answer and were made again (`on_unknown: resubmit`). */
      resubmitted: number;
      /** What was charged, before refunds. */
      charged: string;
      /** What upstreams charged the operator; null: not known. */
      upstream_cost: string | null;
      /** What was charged for the tasks whose cost is known, less that. Before refunds. */
      margin: string | null;
    };
  };
  VaryImagesForm: {
    /** PNG, JPEG or WebP, at most 10 MB. */
    image: string;
    /** Id or alias of a model that takes an image. The cheapest of those unless given, the sandbox's last. */
    model?: string;
    /** How many images. */
    n?: number | null;
    /** `<width>x<height>` within what the model can do, or `auto`. */
    size?: string | null;
    /** How images come back: inline, or as URLs. A query parameter of this name, or the key's own default, counts where it is absent. */
    response_format?: "b64_json" | "url" | null;
    /** Means nothing here. */
    user?: string;
  };
  VaryTask: {
    /** How many. */
    count?: number;
  };
  VideoTask: {
    /** Public id of the task. */
    task_id: string;
    /** Branch on this before reading anything else. */
    status: "pending" | "processing" | "completed" | "failed" | "cancelled";
    /** Percent. Never goes down; 100 only with `completed`. */
    progress?: number;
    /** Id of the model. */
    model: string;
    /** When the task was accepted. Unix seconds. */
    created_at: number;
    /** The task that it was made from, which may be deleted since. */
    parent_id?: string;
    /** Tasks expected to start before this one. While `pending` only. */
    queue_position?: number;
    /** A cancel was asked for, and the provider has not said yet what came of it. */
    cancel_requested?: true;
    /** URLs of what was made, in order. With `completed` only. */
    result?: readonly (string)[];
    /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
    result_issues?: readonly (Schemas["ResultIssue"])[];
    /** When the task ended. Unix seconds. */
    completed_at?: number;
    /** When the files of `result` were removed, because they were kept long enough: their addresses answer 404. Unix seconds. */
    files_removed_at?: number;
    error_code?: Schemas["TaskErrorCode"];
    /** Once settled. */
    usage?: {
      /** What the task was charged. */
      cost: string;
      /** Of every amount beside it. */
      currency: "USD";
    };
    /** What went wrong, safe to show. With `failed` only. */
    error?: string;
  };
  WrittenManifest: {
    /** Id of the model. */
    model: string;
    /** Where it is in the server's data folder. */
    file: string;
    /** In the order of the text. */
    findings: readonly ({
      /** From 1. */
      line: number;
      /** From 1. */
      column: number;
      /** What is wrong, or may have been meant otherwise. */
      message: string;
    })[];
  };
}

/** What each endpoint with a JSON answer takes, and the data of its answer. */
export interface Operations {
  "POST /v1/images/generations": {
    body: Record<string, unknown>;
    data: {
      /** Public id of the task. */
      task_id: string;
    };
  };
  "POST /v1/videos/generations": {
    body: Record<string, unknown>;
    data: {
      /** Public id of the task. */
      task_id: string;
    };
  };
  "GET /v1/images/status/{task_id}": {
    path: { task_id: string };
    query: { wait?: number };
    data: Schemas["ImageTask"];
  };
  "GET /v1/videos/status/{task_id}": {
    path: { task_id: string };
    query: { wait?: number };
    data: Schemas["VideoTask"];
  };
  "GET /v1/tasks": {
    query: { kind?: "image" | "video"; status?: "pending" | "processing" | "completed" | "failed" | "cancelled"; model?: string; q?: string; limit?: number; after?: string };
    data: {
      tasks: readonly (Schemas["ListedTask"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /v1/tasks/{task_id}/cancel": {
    path: { task_id: string };
    data: Schemas["ImageTask"] | Schemas["VideoTask"];
  };
  "DELETE /v1/tasks/{task_id}": {
    path: { task_id: string };
    data: {
      /** Public id of the task. */
      task_id: string;
      /** Always `true`. */
      deleted: true;
    };
  };
  "GET /v1/tasks/{task_id}": {
    path: { task_id: string };
    data: Schemas["TaskStory"];
  };
  "GET /v1/tasks/{task_id}/trace": {
    path: { task_id: string };
    data: Schemas["TaskTrace"];
  };
  "POST /v1/tasks/{task_id}/retry": {
    path: { task_id: string };
    body?: Schemas["RetryTask"];
    data: {
      /** Public id of the task. */
      task_id: string;
      /** The task that was retried. */
      retry_of: string;
    };
  };
  "POST /v1/groups": {
    body: Schemas["CreateGroup"];
    data: {
      /** Public id of the group. */
      group_id: string;
      task_ids: readonly (string)[];
    };
  };
  "GET /v1/groups": {
    query: { limit?: number; after?: string };
    data: {
      groups: readonly (Schemas["ListedGroup"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "GET /v1/groups/{group_id}": {
    path: { group_id: string };
    data: Schemas["Group"];
  };
  "POST /v1/groups/{group_id}/cancel": {
    path: { group_id: string };
    data: Schemas["Group"];
  };
  "POST /v1/tasks/{task_id}/variations": {
    path: { task_id: string };
    body?: Schemas["VaryTask"];
    data: {
      task_ids: readonly (string)[];
      /** Public id of the task. */
      variation_of: string;
      refused: {
        /** How many are missing. */
        count: number;
        /** As of a create that is refused. */
        error_code: string;
        /** The same for people. */
        message: string;
      } | null;
    };
  };
  "POST /v1/tasks/{task_id}/extend": {
    path: { task_id: string };
    body?: Schemas["ExtendTask"];
    data: {
      /** Public id of the task. */
      task_id: string;
      /** The task whose result it is made of. */
      parent_id: string;
      /** Id of the model that makes it; null where a repeated request made a deleted task. */
      model: string | null;
    };
  };
  "POST /v1/tasks/{task_id}/upscale": {
    path: { task_id: string };
    body?: Schemas["UpscaleTask"];
    data: {
      /** Public id of the task. */
      task_id: string;
      /** The task whose result it is made of. */
      parent_id: string;
      /** Id of the model that makes it; null where a repeated request made a deleted task. */
      model: string | null;
    };
  };
  "GET /v1/tasks/{task_id}/tree": {
    path: { task_id: string };
    query: { limit?: number; after?: string };
    data: {
      tasks: readonly (Schemas["FamilyTask"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "GET /v1/callbacks": {
    query: { state?: "pending" | "delivered" | "failed"; task_id?: string; from?: string; to?: string; limit?: number; after?: string };
    data: {
      callbacks: readonly (Schemas["Callback"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /v1/callbacks/redeliver": {
    body: Schemas["RedeliverCallbacks"];
    data: {
      callbacks: readonly (Schemas["Callback"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "GET /v1/callbacks/{callback_id}": {
    path: { callback_id: string };
    data: Schemas["CallbackInFull"];
  };
  "POST /v1/callbacks/{callback_id}/redeliver": {
    path: { callback_id: string };
    data: Schemas["Callback"];
  };
  "GET /admin/v1/callbacks": {
    query: { account?: string; key_id?: string; state?: "pending" | "delivered" | "failed"; task_id?: string; from?: string; to?: string; limit?: number; after?: string };
    data: {
      callbacks: readonly (Schemas["ManagedCallback"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /admin/v1/callbacks/redeliver": {
    body: {
      /** Id or name of one account; all unless given. */
      account?: string;
      /** Id or name of the key that created their tasks. */
      key_id?: string;
      /** The callback of this task; goes with no other field. */
      task_id?: string;
      /** Created then or later: ISO 8601, such as 2026-11-21T14:00:00Z, or Unix seconds. */
      from?: string | number;
      /** Created before: ISO 8601 or Unix seconds. */
      to?: string | number;
      /** Callbacks in one state. */
      state?: "pending" | "delivered" | "failed";
      /** `next` of the page before. */
      after?: string;
    };
    data: {
      callbacks: readonly (Schemas["ManagedCallback"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "GET /admin/v1/callbacks/{id}": {
    path: { id: string };
    data: Schemas["ManagedCallbackInFull"];
  };
  "POST /admin/v1/callbacks/{id}/redeliver": {
    path: { id: string };
    data: Schemas["ManagedCallback"];
  };
  "POST /compat/v1/images/generations": {
    query: { response_format?: "b64_json" | "url" };
    body: Schemas["GenerateImages"];
    data: Schemas["Images"];
  };
  "POST /compat/v1/images/edits": {
    query: { response_format?: "b64_json" | "url" };
    body: Schemas["EditImages"];
    data: Schemas["Images"];
  };
  "POST /compat/v1/images/variations": {
    query: { response_format?: "b64_json" | "url" };
    data: Schemas["Images"];
  };
  "GET /compat/v1/models": {
    data: {
      object: "list";
      data: readonly (Schemas["CompatibleModel"])[];
    };
  };
  "GET /compat/v1/models/{model}": {
    path: { model: string };
    data: Schemas["CompatibleModel"];
  };
  "POST /compat/v1/videos": {
    body: Schemas["CreateCompatibleVideo"];
    data: Schemas["CompatibleVideo"];
  };
  "GET /compat/v1/videos": {
    query: { limit?: number; order?: "asc" | "desc"; after?: string };
    data: {
      object: "list";
      data: readonly (Schemas["CompatibleVideo"])[];
      /** Id of the first video of the page. */
      first_id: string | null;
      /** Id of the last one: give it as `after` for the next page. */
      last_id: string | null;
      /** Whether there is another page. */
      has_more: boolean;
    };
  };
  "GET /compat/v1/videos/{video_id}": {
    path: { video_id: string };
    data: Schemas["CompatibleVideo"];
  };
  "DELETE /compat/v1/videos/{video_id}": {
    path: { video_id: string };
    data: {
      /** Id of the video, which is the id of its task. */
      id: string;
      object: "video.deleted";
      /** Always `true`. */
      deleted: true;
    };
  };
  "POST /compat/v1/videos/{video_id}/remix": {
    path: { video_id: string };
    body: Schemas["CreateVideoRemix"];
    data: Schemas["CompatibleVideo"];
  };
  "POST /compat/v1/videos/edits": {
    body: Schemas["CreateVideoEdit"];
    data: Schemas["CompatibleVideo"];
  };
  "POST /compat/v1/videos/extensions": {
    body: Schemas["CreateVideoExtend"];
    data: Schemas["CompatibleVideo"];
  };
  "POST /fal/{model}": {
    path: { model: string };
    query: { fal_webhook?: string };
    body: Schemas["FalInput"];
    data: Schemas["FalOutput"] | Schemas["FalStatus"];
  };
  "GET /fal/{model}/requests/{request_id}/status": {
    path: { model: string; request_id: string };
    query: { logs?: string };
    data: Schemas["FalStatus"];
  };
  "GET /fal/{model}/requests/{request_id}": {
    path: { model: string; request_id: string };
    data: Schemas["FalOutput"];
  };
  "GET /fal/{model}/requests/{request_id}/response": {
    path: { model: string; request_id: string };
    data: Schemas["FalOutput"];
  };
  "POST /fal/storage/upload/initiate": {
    body: Schemas["BeginFalUpload"];
    data: {
      /** PUT the file here. */
      upload_url: string;
      /** Address of the file. */
      file_url: string;
    };
  };
  "PUT /fal/storage/upload/files/{ticket}": {
    path: { ticket: string };
    data: Record<string, unknown>;
  };
  "GET /fal/.well-known/jwks.json": {
    data: {
      keys: readonly ({
        kty: "OKP";
        crv: "Ed25519";
        alg: "EdDSA";
        use: "sig";
        /** The key, base64url. */
        x: string;
      })[];
    };
  };
  "POST /gemini/v1beta/models/{model}:generateContent": {
    path: { model: string };
    body: Schemas["GenerateGeminiContent"];
    data: Schemas["GeminiGenerateContentResponse"];
  };
  "POST /gemini/v1beta/models/{model}:streamGenerateContent": {
    path: { model: string };
    query: { alt?: string };
    body: Schemas["GenerateGeminiContent"];
    data: readonly (Schemas["GeminiGenerateContentResponse"])[];
  };
  "POST /gemini/v1beta/models/{model}:predict": {
    path: { model: string };
    body: Schemas["GenerateGeminiPictures"];
    data: Schemas["GeminiPredictResponse"];
  };
  "POST /gemini/v1beta/models/{model}:predictLongRunning": {
    path: { model: string };
    body: Schemas["CreateGeminiVideo"];
    data: Schemas["GeminiOperationName"];
  };
  "POST /gemini/v1beta/models/{model}:fetchPredictOperation": {
    path: { model: string };
    body: Schemas["GeminiFetchPredictOperation"];
    data: Schemas["GeminiFetchedOperation"];
  };
  "GET /gemini/v1beta/models/{model}/operations/{operation}": {
    path: { model: string; operation: string };
    data: Schemas["GeminiOperation"];
  };
  "GET /gemini/v1beta/operations/{operation}": {
    path: { operation: string };
    data: Schemas["GeminiOperation"];
  };
  "POST /gemini/v1beta/models/{model}/operations/{operation}:cancel": {
    path: { model: string; operation: string };
    data: Record<string, unknown>;
  };
  "POST /gemini/v1beta/operations/{operation}:cancel": {
    path: { operation: string };
    data: Record<string, unknown>;
  };
  "GET /gemini/v1beta/models": {
    query: { pageSize?: string; pageToken?: string };
    data: Schemas["GeminiModels"];
  };
  "GET /gemini/v1beta/models/{model}": {
    path: { model: string };
    data: Schemas["GeminiModel"];
  };
  "GET /gemini/v1beta/files/{file}": {
    path: { file: string };
    data: Schemas["GeminiFile"];
  };
  "DELETE /gemini/v1beta/files/{file}": {
    path: { file: string };
    data: Record<string, unknown>;
  };
  "GET /gemini/v1beta/files": {
    query: { pageSize?: string; pageToken?: string };
    data: Schemas["GeminiFiles"];
  };
  "POST /gemini/upload/v1beta/files": {
    body: Schemas["CreateGeminiFile"];
    data: Record<string, unknown>;
  };
  "POST /gemini/upload/v1beta/files/{upload}": {
    path: { upload: string };
    data: {
      file?: Schemas["GeminiFile"];
    };
  };
  "POST /gemini/v1beta/interactions": {
    body: Schemas["CreateGeminiInteraction"];
    data: Schemas["GeminiInteraction"];
  };
  "GET /gemini/v1beta/interactions/{interaction}": {
    path: { interaction: string };
    query: { stream?: string };
    data: Schemas["GeminiInteraction"];
  };
  "DELETE /gemini/v1beta/interactions/{interaction}": {
    path: { interaction: string };
    data: Record<string, unknown>;
  };
  "POST /gemini/v1beta/interactions/{interaction}/cancel": {
    path: { interaction: string };
    data: Schemas["GeminiInteraction"];
  };
  "POST /mcp": {
    body: Schemas["McpMessages"];
    data: Schemas["McpMessages"];
  };
  "POST /sdapi/v1/txt2img": {
    body: Schemas["Automatic1111AskedTxt2Img"];
    data: Schemas["Automatic1111Pictures"];
  };
  "POST /sdapi/v1/img2img": {
    body: Schemas["Automatic1111AskedImg2Img"];
    data: Schemas["Automatic1111Pictures"];
  };
  "POST /sdapi/v1/extra-single-image": {
    body: Schemas["Automatic1111AskedExtraSingle"];
    data: Schemas["Automatic1111Enlarged"];
  };
  "POST /sdapi/v1/extra-batch-images": {
    body: Schemas["Automatic1111AskedExtraBatch"];
    data: Schemas["Automatic1111EnlargedBatch"];
  };
  "POST /sdapi/v1/png-info": {
    body: Schemas["Automatic1111AskedPngInfo"];
    data: Schemas["Automatic1111Texts"];
  };
  "GET /sdapi/v1/progress": {
    query: { skip_current_image?: boolean };
    data: Schemas["Automatic1111Progress"];
  };
  "POST /internal/progress": {
    body: Schemas["Automatic1111AskedTaskQuestion"];
    data: Schemas["Automatic1111TaskProgress"];
  };
  "POST /sdapi/v1/interrupt": {
    data: Record<string, unknown>;
  };
  "POST /sdapi/v1/skip": {
    data: null;
  };
  "GET /sdapi/v1/options": {
    data: Schemas["Automatic1111Settings"];
  };
  "POST /sdapi/v1/options": {
    body: Schemas["Automatic1111AskedOptions"];
    data: null;
  };
  "GET /sdapi/v1/sd-models": {
    data: readonly (Schemas["Automatic1111Model"])[];
  };
  "GET /sdapi/v1/samplers": {
    data: readonly ({
      name: string;
      aliases: readonly (string)[];
      options: Record<string, unknown>;
    })[];
  };
  "GET /sdapi/v1/schedulers": {
    data: readonly ({
      name: string;
      label: string;
      aliases: null;
      default_rho: number;
      need_inner_model: boolean;
    })[];
  };
  "GET /sdapi/v1/upscalers": {
    data: readonly ({
      name: string;
      model_name: null;
      model_path: null;
      model_url: null;
      scale: number | null;
    })[];
  };
  "GET /sdapi/v1/latent-upscale-modes": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/loras": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/hypernetworks": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/embeddings": {
    data: {
      loaded: Record<string, unknown>;
      skipped: Record<string, unknown>;
    };
  };
  "GET /sdapi/v1/sd-vae": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/sd-modules": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/extensions": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/prompt-styles": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/face-restorers": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/realesrgan-models": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/scripts": {
    data: {
      txt2img: readonly (unknown)[];
      img2img: readonly (unknown)[];
    };
  };
  "GET /sdapi/v1/script-info": {
    data: readonly (unknown)[];
  };
  "GET /sdapi/v1/cmd-flags": {
    data: {
      api: boolean;
      api_auth: null;
    };
  };
  "GET /sdapi/v1/memory": {
    data: {
      ram: {
        error: string;
      };
      cuda: {
        error: string;
      };
    };
  };
  "POST /sdapi/v1/refresh-checkpoints": {
    data: null;
  };
  "POST /sdapi/v1/refresh-vae": {
    data: null;
  };
  "POST /sdapi/v1/refresh-loras": {
    data: null;
  };
  "POST /sdapi/v1/refresh-embeddings": {
    data: null;
  };
  "POST /sdapi/v1/reload-checkpoint": {
    data: null;
  };
  "POST /sdapi/v1/unload-checkpoint": {
    data: null;
  };
  "GET /internal/ping": {
    data: Record<string, unknown>;
  };
  "GET /queue/status": {
    data: Schemas["Automatic1111Queue"];
  };
  "GET /replicate/v1/predictions": {
    query: { cursor?: string; created_after?: string; created_before?: string; source?: "web" };
    data: {
      /** The page before. */
      previous: string | null;
      /** The next page. */
      next: string | null;
      results: readonly (Schemas["ReplicatePrediction"])[];
    };
  };
  "GET /replicate/v1/predictions/{prediction_id}": {
    path: { prediction_id: string };
    data: Schemas["ReplicatePrediction"];
  };
  "POST /replicate/v1/predictions/{prediction_id}/cancel": {
    path: { prediction_id: string };
    data: Schemas["ReplicatePrediction"];
  };
  "GET /replicate/v1/files": {
    query: { cursor?: string };
    data: {
      /** The page before. */
      previous: string | null;
      /** The next page. */
      next: string | null;
      results: readonly (Schemas["ReplicateFile"])[];
    };
  };
  "GET /replicate/v1/files/{file_id}": {
    path: { file_id: string };
    data: Schemas["ReplicateFile"];
  };
  "GET /replicate/v1/models": {
    query: { cursor?: string };
    data: {
      /** The page before. */
      previous: string | null;
      /** The next page. */
      next: string | null;
      results: readonly (Schemas["ReplicateModel"])[];
    };
  };
  "GET /replicate/v1/models/{owner}/{name}": {
    path: { owner: string; name: string };
    data: Schemas["ReplicateModel"];
  };
  "GET /replicate/v1/models/{owner}/{name}/versions": {
    path: { owner: string; name: string };
    data: {
      /** The page before. */
      previous: string | null;
      /** The next page. */
      next: string | null;
      results: readonly (Schemas["ReplicateVersion"])[];
    };
  };
  "GET /replicate/v1/models/{owner}/{name}/versions/{version}": {
    path: { owner: string; name: string; version: string };
    data: Schemas["ReplicateVersion"];
  };
  "GET /replicate/v1/deployments/{owner}/{name}": {
    path: { owner: string; name: string };
    data: Schemas["ReplicateDeployment"];
  };
  "GET /replicate/v1/collections": {
    data: {
      /** The page before. */
      previous: string | null;
      /** The next page. */
      next: string | null;
      results: readonly (Schemas["ReplicateCollection"])[];
    };
  };
  "GET /replicate/v1/collections/{slug}": {
    path: { slug: string };
    data: Schemas["ReplicateCollectionInFull"];
  };
  "GET /replicate/v1/account": {
    data: {
      type: "organization";
      /** The account's name. */
      username: string;
      /** The same. */
      name: string;
      /** There is none. */
      github_url: null;
    };
  };
  "GET /replicate/v1/hardware": {
    data: readonly ({
      /** For people. */
      name: string;
      /** Its name. */
      sku: string;
    })[];
  };
  "GET /replicate/v1/webhooks/default/secret": {
    data: {
      /** What webhooks of the caller's key are signed with. */
      key: string;
    };
  };
  "GET /v1/models": {
    query: { all?: boolean };
    data: {
      models: readonly (Schemas["Model"])[];
    };
  };
  "GET /v1/models/{model}": {
    path: { model: string };
    query: { all?: boolean };
    data: Schemas["ModelInFull"];
  };
  "GET /admin/v1/models": {
    data: {
      models: readonly (Schemas["ManagedModel"])[];
    };
  };
  "GET /admin/v1/models/{model}": {
    path: { model: string };
    data: Schemas["ManagedModelInFull"];
  };
  "POST /admin/v1/models/check": {
    body: {
      /** The manifest, in YAML, 128 KiB at most. */
      text: string;
    };
    data: Schemas["ManifestCheck"];
  };
  "GET /admin/v1/models/{model}/manifest": {
    path: { model: string };
    data: Schemas["Manifest"];
  };
  "PUT /admin/v1/models/{model}/manifest": {
    path: { model: string };
    body: {
      /** The manifest, in YAML, 128 KiB at most. */
      text: string;
    };
    data: Schemas["WrittenManifest"];
  };
  "DELETE /admin/v1/models/{model}/manifest": {
    path: { model: string };
    data: Schemas["RemovedManifest"];
  };
  "GET /admin/v1/pricing": {
    data: {
      prices: readonly (Schemas["ManagedPrice"])[];
    };
  };
  "GET /admin/v1/pricing/{model}": {
    path: { model: string };
    data: Schemas["ManagedPrice"];
  };
  "PATCH /admin/v1/pricing/{model}": {
    path: { model: string };
    body: {
      /** A price rule as manifests have it: `lines`, and a `minimum` where there is one. */
      price: Record<string, unknown>;
      /** Why, for people. */
      reason?: string;
    };
    data: Schemas["ManagedPrice"];
  };
  "POST /admin/v1/pricing/{model}/reset": {
    path: { model: string };
    data: Schemas["ResetPrice"];
  };
  "POST /admin/v1/pricing/{model}/quote": {
    path: { model: string };
    body: {
      /** The create body. Prompt and media may be left out. */
      request?: Record<string, unknown>;
      /** What every line, and the minimum, is charged times, as for an account or a key. */
      price_multiplier?: string;
    };
    data: Schemas["Quote"];
  };
  "GET /admin/v1/providers": {
    data: {
      providers: readonly (Schemas["ManagedProvider"])[];
      /** What is wrong with files of the data folder that describe a provider, with line and column, with the settings of these, and with kept keys. */
      problems: readonly (string)[];
    };
  };
  "GET /admin/v1/providers/{id}": {
    path: { id: string };
    query: { text?: boolean };
    data: Schemas["ManagedProviderInFull"];
  };
  "POST /admin/v1/providers/{id}/test": {
    path: { id: string };
    body: {
      /** Only this account. */
      account?: string;
    };
    data: {
      accounts: readonly (Schemas["ProviderTest"])[];
    };
  };
  "GET /admin/v1/routes": {
    data: {
      routes: readonly (Schemas["ManagedRoute"])[];
    };
  };
  "POST /admin/v1/routes/explain": {
    body: {
      /** Id of a model, or an alias of one. */
      model: string;
      /** The create body. Prompt and media may be left out. */
      request?: Record<string, unknown>;
      /** As X-Route-Policy of the create. */
      route_policy?: string;
      /** As X-Route of the create. */
      route?: string;
      /** Id or name of the key that would send it. */
      key?: string;
    };
    data: Schemas["ExplainedRoutes"];
  };
  "POST /admin/v1/routes/block": {
    body: {
      /** Id of the provider. */
      provider: string;
      /** Only this account of it. */
      account?: string;
      /** Only this model, as the provider calls it. */
      upstream_model?: string;
      /** Why, for people. */
      reason?: string;
    };
    data: {
      /** The ways that it concerns. */
      routes: readonly (Schemas["ManagedRoute"])[];
    };
  };
  "POST /admin/v1/routes/allow": {
    body: {
      /** Id of the provider. */
      provider: string;
      /** Only this account of it. */
      account?: string;
      /** Only this model, as the provider calls it. */
      upstream_model?: string;
    };
    data: {
      /** The ways that it concerns. */
      routes: readonly (Schemas["ManagedRoute"])[];
    };
  };
  "GET /v1/account/status": {
    data: Schemas["AccountStatus"];
  };
  "GET /v1/usage": {
    query: { by?: string; since?: string; until?: string };
    data: Schemas["OwnUsage"];
  };
  "POST /v1/pricing/estimate": {
    body: Schemas["EstimateRequest"] | Record<string, unknown> | Record<string, unknown>;
    data: Schemas["Estimate"];
  };
  "POST /v1/files": {
    query: { name?: string };
    data: Schemas["UploadedFile"];
  };
  "GET /v1/files": {
    query: { limit?: number; after?: string };
    data: {
      files: readonly (Schemas["UploadedFile"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "GET /v1/files/{file_id}": {
    path: { file_id: string };
    data: Schemas["UploadedFile"];
  };
  "DELETE /v1/files/{file_id}": {
    path: { file_id: string };
    data: {
      /** Id of the file. */
      file_id: string;
      /** Always `true`. */
      deleted: true;
    };
  };
  "POST /hooks/{token}": {
    path: { token: string };
    data: {
      /** The one that was sent, for upstreams that try an address before they use it. */
      challenge?: string;
    };
  };
  "GET /admin/v1/keys": {
    query: { account?: string; limit?: number; after?: string; order?: "asc" | "desc"; charged_days?: number };
    data: {
      keys: readonly (Schemas["ListedApiKey"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /admin/v1/keys": {
    body: {
      /** What people call it; unique among those of its kind that are not revoked. */
      name: string;
      /** Id or name of the account; default: default. */
      account?: string;
      /** From when on the key is refused; null: never. Unix seconds. */
      expires_at?: number | null;
      /** Ids of models the key may use, * standing for any characters; null: all models. */
      models?: readonly (string)[] | null;
      /** What the key may create; null: everything. */
      features?: readonly ("images" | "videos" | "compat")[] | null;
      /** Addresses and ranges of them (CIDR) the key may be used from; null: any address. */
      allow_ips?: readonly (string)[] | null;
      /** Creates, synchronous calls and redeliveries the key may ask for in a minute; null: any number. */
      requests_per_minute?: number | null;
      /** Tasks of the key that may be live at once; null: any number. */
      concurrency?: number | null;
      /** Other names for models, and the models' ids; null: none. */
      aliases?: Record<string, string> | null;
      /** What the synchronous images API answers when a request does not say; null: as the server has it. */
      response_format?: "b64_json" | "url" | null;
      /** Longest wait of a synchronous call, where shorter than the server's; null: the server's. */
      sync_wait_seconds?: number | null;
      /** What the key may spend; null: any amount. */
      quota?: {
        /** What the key may spend; absent: as the key has it. */
        limit?: string;
        /** When that begins anew, in UTC; `total`: never. Absent: as the key has it, or `total`. */
        reset?: "total" | "daily" | "weekly" | "monthly";
      } | null;
      /** How one of a model's routes is chosen when a request does not say; null: as the model has it. */
      route_policy?: "ordered" | "weighted" | "cheapest" | "fastest" | "least_busy" | null;
      /** Whether a request may name the one route that it takes, by X-Route; null: it may not. */
      named_routes?: "allowed" | null;
      /** How long the files of its tasks are kept after their end, and the most that a request may ask for; null: as the server has it. */
      retain_seconds?: number | null;
      /** Names of the checks of content that its requests go through; an empty list: none; null: as the model or the server has it. */
      moderation?: readonly (string)[] | null;
      /** Prices are charged times this; null: as the account's. */
      price_multiplier?: string | null;
      /** What the key's callbacks are signed with (Standard Webhooks): "new" for one that is made, or whsec_ and 24 to 64 bytes in base64; null: they are not signed. */
      callback_secret?: string | null;
    };
    data: Schemas["ApiKeyWithSecret"];
  };
  "GET /admin/v1/keys/{id}": {
    path: { id: string };
    data: Schemas["ApiKey"];
  };
  "PATCH /admin/v1/keys/{id}": {
    path: { id: string };
    body: {
      /** From when on the key is refused; null: never. Unix seconds. */
      expires_at?: number | null;
      /** Ids of models the key may use, * standing for any characters; null: all models. */
      models?: readonly (string)[] | null;
      /** What the key may create; null: everything. */
      features?: readonly ("images" | "videos" | "compat")[] | null;
      /** Addresses and ranges of them (CIDR) the key may be used from; null: any address. */
      allow_ips?: readonly (string)[] | null;
      /** Creates, synchronous calls and redeliveries the key may ask for in a minute; null: any number. */
      requests_per_minute?: number | null;
      /** Tasks of the key that may be live at once; null: any number. */
      concurrency?: number | null;
      /** Other names for models, and the models' ids; null: none. */
      aliases?: Record<string, string> | null;
      /** What the synchronous images API answers when a request does not say; null: as the server has it. */
      response_format?: "b64_json" | "url" | null;
      /** Longest wait of a synchronous call, where shorter than the server's; null: the server's. */
      sync_wait_seconds?: number | null;
      /** What the key may spend; null: any amount. */
      quota?: {
        /** What the key may spend; absent: as the key has it. */
        limit?: string;
        /** When that begins anew, in UTC; `total`: never. Absent: as the key has it, or `total`. */
        reset?: "total" | "daily" | "weekly" | "monthly";
      } | null;
      /** How one of a model's routes is chosen when a request does not say; null: as the model has it. */
      route_policy?: "ordered" | "weighted" | "cheapest" | "fastest" | "least_busy" | null;
      /** Whether a request may name the one route that it takes, by X-Route; null: it may not. */
      named_routes?: "allowed" | null;
      /** How long the files of its tasks are kept after their end, and the most that a request may ask for; null: as the server has it. */
      retain_seconds?: number | null;
      /** Names of the checks of content that its requests go through; an empty list: none; null: as the model or the server has it. */
      moderation?: readonly (string)[] | null;
      /** Prices are charged times this; null: as the account's. */
      price_multiplier?: string | null;
      /** What the key's callbacks are signed with (Standard Webhooks): "new" for one that is made, or whsec_ and 24 to 64 bytes in base64; null: they are not signed. */
      callback_secret?: string | null;
      /** How long the callback secret that is replaced signs too. */
      callback_secret_grace_seconds?: number;
    };
    data: Schemas["ChangedApiKey"];
  };
  "POST /admin/v1/keys/{id}/rotate": {
    path: { id: string };
    body: {
      /** How long the secret that is replaced is still taken. */
      grace_seconds?: number;
    };
    data: Schemas["ApiKeyWithSecret"];
  };
  "POST /admin/v1/keys/{id}/revoke": {
    path: { id: string };
    data: Schemas["ApiKey"];
  };
  "GET /admin/v1/accounts": {
    query: { limit?: number; after?: string; order?: "asc" | "desc" };
    data: {
      accounts: readonly (Schemas["Account"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /admin/v1/accounts": {
    body: {
      /** What people call it; unique among those of its kind that are not revoked. */
      name: string;
      /** `unlimited` accounts are metered, and refused only beyond 8e9 USD owed. */
      mode?: "prepaid" | "unlimited";
      /** First credit. */
      credit?: string;
      currency?: "USD";
    };
    data: Schemas["Account"];
  };
  "GET /admin/v1/accounts/{id}": {
    path: { id: string };
    data: Schemas["Account"];
  };
  "PATCH /admin/v1/accounts/{id}": {
    path: { id: string };
    body: {
      /** `unlimited` accounts are metered, and refused only beyond 8e9 USD owed. */
      mode?: "prepaid" | "unlimited";
      /** How far below zero a prepaid account may go; null: not at all. */
      credit_limit?: string | null;
      /** With less than this available, a warning is logged, once for each time; null: never. */
      low_balance?: string | null;
      /** Prices are charged times this; null: as they are. */
      price_multiplier?: string | null;
      /** How long the files of its tasks' results are kept after their end; null: as the server has it. */
      retain_outputs_seconds?: number | null;
      /** How long the files of its tasks' inputs are kept after their end; null: as the server has it. */
      retain_inputs_seconds?: number | null;
      /** How long its tasks' callbacks and their sends are kept after their end; null: as the server has it. */
      retain_callbacks_seconds?: number | null;
      /** How long its tasks are kept, with everything but their money after their end; null: as the server has it. */
      retain_tasks_seconds?: number | null;
      currency?: "USD";
    };
    data: Schemas["Account"];
  };
  "POST /admin/v1/accounts/{id}/suspend": {
    path: { id: string };
    data: Schemas["Account"];
  };
  "POST /admin/v1/accounts/{id}/activate": {
    path: { id: string };
    data: Schemas["Account"];
  };
  "POST /admin/v1/accounts/{id}/credit": {
    path: { id: string };
    body: {
      /** Added to the balance; below zero it is taken from it. */
      amount: string;
      currency?: "USD";
      /** Why, for the ledger. */
      reason: string;
    };
    data: Schemas["Account"];
  };
  "GET /admin/v1/accounts/{id}/ledger": {
    path: { id: string };
    query: { limit?: number; before?: string };
    data: Schemas["Ledger"];
  };
  "GET /admin/v1/quotas": {
    query: { account?: string; key_id?: string; limit?: number; after?: string };
    data: {
      /** Of every amount beside it. */
      currency: "USD";
      quotas: readonly ({
        /** Id of the key. */
        key_id: string;
        /** Its name. */
        key: string;
        /** The account it belongs to. */
        account_id: string;
        /** Its name. */
        account: string;
        /** What the key may spend. */
        limit: string;
        /** Charged in the period. */
        used: string;
        /** Of it, held for tasks under way. */
        reserved: string;
        /** Of it, left. */
        remaining: string;
        /** How often it begins anew, in UTC. */
        reset: "total" | "daily" | "weekly" | "monthly";
        /** When it begins anew; null: never. Unix seconds. */
        resets_at: number | null;
      })[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /admin/v1/tasks/{id}/refund": {
    path: { id: string };
    body: {
      /** Given back; all that was charged unless given. */
      amount?: string;
      currency?: "USD";
      /** Why, for the ledger. */
      reason: string;
    };
    data: Schemas["Refund"];
  };
  "GET /admin/v1/usage": {
    query: { by?: string; since?: string; until?: string; account?: string };
    data: Schemas["Usage"];
  };
  "GET /admin/v1/tasks": {
    query: { account?: string; kind?: "image" | "video"; status?: "pending" | "processing" | "completed" | "failed" | "cancelled"; model?: string; q?: string; limit?: number; after?: string };
    data: {
      tasks: readonly (Schemas["ManagedTask"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "GET /admin/v1/tasks/{id}": {
    path: { id: string };
    data: Schemas["ManagedTaskStory"];
  };
  "GET /admin/v1/tasks/{id}/trace": {
    path: { id: string };
    data: Schemas["ManagedTaskTrace"];
  };
  "GET /admin/v1/tasks/{id}/tree": {
    path: { id: string };
    query: { limit?: number; after?: string };
    data: {
      tasks: readonly (Schemas["FamilyTask"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /admin/v1/tasks/{id}/cancel": {
    path: { id: string };
    data: Schemas["ManagedTaskStory"];
  };
  "GET /admin/v1/audit": {
    query: { depth?: "checksums" | "new" | "full" };
    data: Schemas["Audit"];
  };
  "GET /admin/v1/log/level": {
    data: {
      /** What the log tells now: this and what is graver. */
      level: "debug" | "info" | "warn" | "error";
      /** What the settings say. */
      usual: "debug" | "info" | "warn" | "error";
      /** When the usual level comes back; null while it is in force. Unix seconds. */
      until: number | null;
    };
  };
  "POST /admin/v1/log/level": {
    body: {
      /** What the log is to tell. */
      level: "debug" | "info" | "warn" | "error";
      /** After which the usual level comes back. */
      for_seconds?: number;
    };
    data: {
      /** What the log tells now: this and what is graver. */
      level: "debug" | "info" | "warn" | "error";
      /** What the settings say. */
      usual: "debug" | "info" | "warn" | "error";
      /** When the usual level comes back; null while it is in force. Unix seconds. */
      until: number | null;
    };
  };
  "GET /admin/v1/config": {
    data: Schemas["Settings"];
  };
  "POST /admin/v1/reload": {
    data: Schemas["ReloadedSettings"];
  };
  "GET /admin/v1/assets": {
    query: { limit?: number; after?: string };
    data: {
      assets: readonly ({
        /** Id of the file. */
        id: string;
        /** The task that has it. */
        task_id: string;
        /** Its account. */
        account_id: string;
        /** Whether it went in or came out. */
        role: string;
        /** Its place among those of its task and role. */
        index: number;
        /** SHA-256 of the content. */
        sha256: string;
        /** Its size. */
        size_bytes: number;
        /** Its media type. */
        media_type: string;
        /** When it was stored. Unix seconds. */
        created_at: number;
        /** Its address, below the service's own. */
        path: string;
      })[];
      /** The next page's `after`; null on the last one. */
      next: string | null;
    };
  };
  "GET /admin/v1/assets/verify": {
    data: {
      /** `idle`: not begun since the start of the server. */
      status: string;
      /** When it was begun. Unix seconds. */
      started_at: number | null;
      /** When it ended. Unix seconds. */
      ended_at: number | null;
      /** Files that were looked at, where the job says so. */
      files_so_far: number | null;
      result: {
        /** Files that were read. */
        files: number;
        /** Their sizes together. */
        size_bytes: number;
        damaged: readonly ({
          /** SHA-256 of the content. */
          sha256: string;
          /** What is wrong with it. */
          what: string;
          tasks: readonly (string)[];
          uploads: readonly (string)[];
        })[];
      } | null;
      /** Why it failed. */
      error: string | null;
    };
  };
  "POST /admin/v1/assets/verify": {
    data: {
      /** `idle`: not begun since the start of the server. */
      status: string;
      /** When it was begun. Unix seconds. */
      started_at: number | null;
      /** When it ended. Unix seconds. */
      ended_at: number | null;
      /** Files that were looked at, where the job says so. */
      files_so_far: number | null;
      result: {
        /** Files that were read. */
        files: number;
        /** Their sizes together. */
        size_bytes: number;
        damaged: readonly ({
          /** SHA-256 of the content. */
          sha256: string;
          /** What is wrong with it. */
          what: string;
          tasks: readonly (string)[];
          uploads: readonly (string)[];
        })[];
      } | null;
      /** Why it failed. */
      error: string | null;
    };
  };
  "GET /admin/v1/assets/gc": {
    data: {
      /** `idle`: not begun since the start of the server. */
      status: string;
      /** When it was begun. Unix seconds. */
      started_at: number | null;
      /** When it ended. Unix seconds. */
      ended_at: number | null;
      /** Files that were looked at, where the job says so. */
      files_so_far: number | null;
      result: {
        /** Whether nothing was removed. */
        dry_run: boolean;
        /** Files that went, or would. */
        files: number;
        /** Their sizes together. */
        size_bytes: number;
        /** Files that no task has and that are less than an hour old, which stay. */
        young: number;
        /** The first thousand of them. */
        contents: readonly ({
          /** SHA-256 of the content. */
          sha256: string;
          /** Its size. */
          size_bytes: number;
        })[];
      } | null;
      /** Why it failed. */
      error: string | null;
    };
  };
  "POST /admin/v1/assets/gc": {
    body: {
      /** Removes nothing, and tells what would go. */
      dry_run?: boolean;
    };
    data: {
      /** `idle`: not begun since the start of the server. */
      status: string;
      /** When it was begun. Unix seconds. */
      started_at: number | null;
      /** When it ended. Unix seconds. */
      ended_at: number | null;
      /** Files that were looked at, where the job says so. */
      files_so_far: number | null;
      result: {
        /** Whether nothing was removed. */
        dry_run: boolean;
        /** Files that went, or would. */
        files: number;
        /** Their sizes together. */
        size_bytes: number;
        /** Files that no task has and that are less than an hour old, which stay. */
        young: number;
        /** The first thousand of them. */
        contents: readonly ({
          /** SHA-256 of the content. */
          sha256: string;
          /** Its size. */
          size_bytes: number;
        })[];
      } | null;
      /** Why it failed. */
      error: string | null;
    };
  };
  "GET /admin/v1/backups": {
    data: {
      /** Where they go; null where the settings name no place. */
      to: string | null;
      /** Whether the server makes them by itself. */
      scheduled: boolean;
      /** When the newest by schedule was begun, as far as it is known. Unix seconds. */
      newest_at: number | null;
      failing: {
        /** Since when none could be made. Unix seconds. */
        since: number;
        /** Why. */
        reason: string;
      } | null;
      /** Those that are whole, newest first; at most a thousand. */
      backups: readonly (string)[];
      /** Why they could not be listed. */
      problem: string | null;
      job: {
        /** `idle`: not begun since the start of the server. */
        status: string;
        /** When it was begun. Unix seconds. */
        started_at: number | null;
        /** When it ended. Unix seconds. */
        ended_at: number | null;
        /** Files that were looked at, where the job says so. */
        files_so_far: number | null;
        result: {
          /** Where it is. */
          path: string;
          /** Files in it. */
          files: number;
          /** Their sizes together. */
          bytes: number;
          /** Of them, what was not in an earlier backup. */
          copied_bytes: number;
          /** Files that the database names and that were not there. */
          missing: number;
        } | null;
        /** Why it failed. */
        error: string | null;
      };
    };
  };
  "POST /admin/v1/backups": {
    data: {
      /** `idle`: not begun since the start of the server. */
      status: string;
      /** When it was begun. Unix seconds. */
      started_at: number | null;
      /** When it ended. Unix seconds. */
      ended_at: number | null;
      /** Files that were looked at, where the job says so. */
      files_so_far: number | null;
      result: {
        /** Where it is. */
        path: string;
        /** Files in it. */
        files: number;
        /** Their sizes together. */
        bytes: number;
        /** Of them, what was not in an earlier backup. */
        copied_bytes: number;
        /** Files that the database names and that were not there. */
        missing: number;
      } | null;
      /** Why it failed. */
      error: string | null;
    };
  };
  "GET /admin/v1/database": {
    data: {
      /** Whether nothing is wrong. */
      ok: boolean;
      faults: readonly ({
        /** What is wrong. */
        kind: string;
        /** What SQLite says. */
        message: string;
      })[];
      schema: {
        /** The latest migration that was applied. */
        current: number | null;
        /** The latest one that this version knows. */
        latest: number;
        pending: readonly (string)[];
      };
      /** Size of the database's file. */
      database_bytes: number;
      /** Size of its write-ahead log. */
      wal_bytes: number;
      /** Size of a page. */
      page_bytes: number | null;
      /** Pages in the file. */
      pages: number | null;
      /** Those that hold nothing. */
      free_pages: number | null;
      /** Their sizes together. */
      free_bytes: number | null;
    };
  };
  "POST /admin/v1/accounts/{id}/purge": {
    path: { id: string };
    body: {
      /** The account's id once more: what is removed is gone for ever. */
      confirm: string;
    };
    data: {
      /** Id of the account. */
      account_id: string;
      /** `more`: there is more than one request removes; send it again. `live`: tasks are under way and were asked to stop; send it again once they have ended. */
      status: string;
      /** Tasks that went; of `live`, those that are under way. */
      tasks: number;
      /** Files that went. */
      files: number;
      /** Files that are in use still, and go by themselves. */
      files_left: number;
      remains: {
        /** Tasks that are left. */
        tasks: number;
        /** Files of them. */
        files: number;
        /** Callbacks of them. */
        callbacks: number;
        /** Keys that still have a name or a secret. */
        keys: number;
      } | null;
      /** Whether nothing is left but money. */
      verified: boolean;
    };
  };
  "POST /admin/v1/providers/{id}/add": {
    path: { id: string };
    body: {
      /** Name of the account; `default` unless given. */
      account?: string;
      /** The secrets of an account by their names, mostly `key` alone; `kinds` of the provider names them. */
      secrets: Record<string, string>;
    };
    data: {
      /** Id of the provider. */
      provider: string;
      /** Name of the account. */
      account: string;
      /** The queue of its tasks. */
      lane: string;
      /** Whether the server has taken it up; otherwise its next start does. */
      in_force: boolean;
    };
  };
  "POST /admin/v1/providers/{id}/remove": {
    path: { id: string };
    body: {
      /** Name of the account; `default` unless given. */
      account?: string;
    };
    data: {
      /** Id of the provider. */
      provider: string;
      /** Name of the account. */
      account: string;
      /** The queue of its tasks. */
      lane: string;
      /** Whether the server has taken it up; otherwise its next start does. */
      in_force: boolean;
    };
  };
  "POST /admin/v1/moderation/test": {
    body: {
      /** What a caller might ask for. */
      text: string;
      /** Only these; all unless given. */
      checks?: readonly (string)[];
    };
    data: {
      /** What would become of a request with this text. */
      verdict: string;
      checks: readonly ({
        /** Its name. */
        check: string;
        /** What it says. `outage`: it cannot tell. */
        verdict: string;
        /** What the text breaks. */
        rule: string | null;
        /** Why it cannot tell. */
        reason: string | null;
        /** What becomes of a request while it cannot tell. */
        on_outage: string;
        /** How long it took, in milliseconds. */
        ms: number;
      })[];
    };
  };
  "POST /admin/v1/alerts/test": {
    data: {
      targets: readonly ({
        /** Who: the kind of target and its host, or the program. */
        to: string;
        on: readonly (string)[];
        /** Whether it could be told. */
        sent: boolean;
        /** Why not. */
        error: string | null;
      })[];
    };
  };
  "GET /admin/v1/token": {
    data: Schemas["ManagementToken"];
  };
  "GET /admin/v1/tokens": {
    query: { limit?: number; after?: string; order?: "asc" | "desc" };
    data: {
      tokens: readonly (Schemas["ManagementToken"])[];
      /** Give as `after` for the next page; null on the last. */
      next: string | null;
    };
  };
  "POST /admin/v1/tokens": {
    body: {
      /** What people call it; unique among those of its kind that are not revoked. */
      name: string;
      /** What the token may do; absent: all that its maker may. */
      scopes?: readonly ("read" | "keys" | "money" | "system")[];
      /** From when on the token is refused; absent: as its maker; null: never. Unix seconds. */
      expires_at?: number | null;
    };
    data: Schemas["ManagementTokenWithSecret"];
  };
  "POST /admin/v1/tokens/{id}/revoke": {
    path: { id: string };
    data: Schemas["ManagementToken"];
  };
  "GET /admin/v1/audit-log": {
    query: { actor?: string; action?: "account.create" | "account.update" | "account.suspend" | "account.activate" | "account.credit" | "account.purge" | "key.create" | "key.update" | "key.rotate" | "key.revoke" | "token.create" | "token.revoke" | "session.end" | "price.set" | "price.reset" | "model.write" | "model.remove" | "task.cancel" | "task.refund" | "callback.redeliver" | "route.block" | "route.allow" | "provider.add" | "provider.remove" | "backup.create" | "files.collect" | "files.verify" | "database.vacuum" | "database.migrate" | "backup.restore" | "settings.change" | "settings.reload" | "log.level"; object?: string; since?: string; until?: string; limit?: number; after?: string };
    data: {
      entries: readonly (Schemas["TrailEntry"])[];
      /** Cursor of the next page; null on the last one. */
      next: string | null;
    };
  };
  "GET /admin/v1/overview": {
    data: Schemas["Overview"];
  };
  "GET /admin/v1/nodes": {
    data: {
      /** By name. Those that were heard of within an hour. */
      nodes: readonly (Schemas["Node"])[];
    };
  };
  "GET /admin/v1/history": {
    query: { minutes?: number };
    data: Schemas["History"];
  };
  "GET /healthz": {
    data: {
      status: "ok";
    };
  };
  "GET /readyz": {
    query: { verbose?: string };
    data: {
      status: "ready";
      /** What is refused in part, because there is too much to do; absent when nothing is. */
      shedding?: readonly (string)[];
      /** What the operator should look after before no new tasks can be taken; absent when nothing. */
      warnings?: readonly (string)[];
      /** With `verbose` alone. */
      checks?: readonly ({
        /** Stable name of the check. */
        id: string;
        /** How it went. */
        status: string;
        /** What was found; for a management token alone. */
        message?: string;
        /** What puts it right; for a management token alone, and only where something is wrong. */
        fix?: string;
      })[];
    };
  };
  "GET /admin/v1/readiness": {
    data: {
      /** Whether new tasks are taken. */
      ready: boolean;
      /** Why they are not; null while they are. */
      reason: string | null;
      /** What is refused in part, because there is too much to do. */
      shedding: readonly (string)[];
      /** What to look after before no new tasks can be taken. */
      warnings: readonly (string)[];
      checks: readonly ({
        /** Stable name of the check. Several findings may have the same. */
        id: string;
        /** How it went. */
        status: string;
        /** What was found. */
        message: string;
        /** What puts it right; null where nothing is wrong. */
        fix: string | null;
      })[];
    };
  };
  "GET /console/session": {
    data: {
      session: Schemas["ConsoleSession"] | null;
      /** Of the program. */
      version: string;
    };
  };
  "POST /console/session": {
    body: {
      /** An API key or a management token. */
      credential?: string;
      /** What follows `#link=` in a link to the console, which works once. */
      link?: string;
    };
    data: {
      session: Schemas["ConsoleSession"] | null;
      /** Of the program. */
      version: string;
    };
  };
  "DELETE /console/session": {
    data: Record<string, unknown>;
  };
  "GET /admin/v1/sessions": {
    data: {
      sessions: readonly (Schemas["ManagedSession"])[];
    };
  };
  "POST /admin/v1/sessions": {
    data: Schemas["ConsoleLink"];
  };
  "POST /admin/v1/sessions/{id}/end": {
    path: { id: string };
    data: {
      /** It is over. */
      id: string;
    };
  };
  "GET /": {
    data: Schemas["Service"];
  };
  "GET /openapi.json": {
    data: Record<string, unknown>;
  };
}

/** The events of each stream. */
export interface Streams {
  "GET /v1/tasks/{task_id}/events": {
    pending: Schemas["ImageTask"] | Schemas["VideoTask"];
    processing: Schemas["ImageTask"] | Schemas["VideoTask"];
    completed: Schemas["ImageTask"] | Schemas["VideoTask"];
    failed: Schemas["ImageTask"] | Schemas["VideoTask"];
    cancelled: Schemas["ImageTask"] | Schemas["VideoTask"];
    preview: Schemas["Preview"];
  };
  "GET /v1/events": {
    pending: Schemas["ListedTask"];
    processing: Schemas["ListedTask"];
    completed: Schemas["ListedTask"];
    failed: Schemas["ListedTask"];
    cancelled: Schemas["ListedTask"];
  };
  "GET /v1/callbacks/events": {
    callback: {
      /** Public id of the task. */
      task_id: string;
      /** Id of the callback; null for a task without `callback_url`. */
      callback_id: string | null;
      /** The task's `callback_url`. */
      url: string | null;
      /** Those of the POST. */
      headers: {
        /** Always `application/json`. */
        "Content-Type": string;
        /** Always `Service-Callback/1.0`. */
        "User-Agent": string;
        /** Of a key that signs: the same for every send. */
        "webhook-id"?: string;
        /** Of a key that signs. */
        "webhook-timestamp"?: string;
        /** Of a key that signs. */
        "webhook-signature"?: string;
      };
      /** The body of the POST, to the byte. */
      body: string;
    };
  };
  "POST /compat/v1/images/generations": {
    "image_generation.partial_image": {
      type: "image_generation.partial_image";
      /** From 0. */
      partial_image_index: number;
      /** The file as base64, without a `data:` prefix. */
      b64_json: string;
      /** Unix seconds. */
      created_at: number;
      /** What was made, as its file shows it; the first image's. */
      size: string;
      /** What was made, as far as the provider says it; `auto` where nothing is known. */
      quality: string;
      /** The same: `opaque`, `transparent` or `auto`. */
      background: string;
      /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
      output_format: string;
    };
    "image_generation.completed": {
      type: "image_generation.completed";
      /** The file as base64, without a `data:` prefix. */
      b64_json?: string;
      /** Where the file is. */
      url?: string;
      /** Unix seconds. */
      created_at: number;
      /** What was made, as its file shows it; the first image's. */
      size: string;
      /** What was made, as far as the provider says it; `auto` where nothing is known. */
      quality: string;
      /** The same: `opaque`, `transparent` or `auto`. */
      background: string;
      /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
      output_format: string;
      /** What `X-Svc-Adjusted` says of an answer without a stream. */
      adjusted?: readonly (string)[];
      /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
      result_issues?: readonly (Schemas["ResultIssue"])[];
      usage: Schemas["ImageUsage"];
    };
    error: Schemas["CompatibleError"];
  };
  "POST /compat/v1/images/edits": {
    "image_edit.partial_image": {
      type: "image_edit.partial_image";
      /** From 0. */
      partial_image_index: number;
      /** The file as base64, without a `data:` prefix. */
      b64_json: string;
      /** Unix seconds. */
      created_at: number;
      /** What was made, as its file shows it; the first image's. */
      size: string;
      /** What was made, as far as the provider says it; `auto` where nothing is known. */
      quality: string;
      /** The same: `opaque`, `transparent` or `auto`. */
      background: string;
      /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
      output_format: string;
    };
    "image_edit.completed": {
      type: "image_edit.completed";
      /** The file as base64, without a `data:` prefix. */
      b64_json?: string;
      /** Where the file is. */
      url?: string;
      /** Unix seconds. */
      created_at: number;
      /** What was made, as its file shows it; the first image's. */
      size: string;
      /** What was made, as far as the provider says it; `auto` where nothing is known. */
      quality: string;
      /** The same: `opaque`, `transparent` or `auto`. */
      background: string;
      /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
      output_format: string;
      /** What `X-Svc-Adjusted` says of an answer without a stream. */
      adjusted?: readonly (string)[];
      /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
      result_issues?: readonly (Schemas["ResultIssue"])[];
      usage: Schemas["ImageUsage"];
    };
    error: Schemas["CompatibleError"];
  };
  "POST /compat/v1/images/variations": {
    "image_edit.partial_image": {
      type: "image_edit.partial_image";
      /** From 0. */
      partial_image_index: number;
      /** The file as base64, without a `data:` prefix. */
      b64_json: string;
      /** Unix seconds. */
      created_at: number;
      /** What was made, as its file shows it; the first image's. */
      size: string;
      /** What was made, as far as the provider says it; `auto` where nothing is known. */
      quality: string;
      /** The same: `opaque`, `transparent` or `auto`. */
      background: string;
      /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
      output_format: string;
    };
    "image_edit.completed": {
      type: "image_edit.completed";
      /** The file as base64, without a `data:` prefix. */
      b64_json?: string;
      /** Where the file is. */
      url?: string;
      /** Unix seconds. */
      created_at: number;
      /** What was made, as its file shows it; the first image's. */
      size: string;
      /** What was made, as far as the provider says it; `auto` where nothing is known. */
      quality: string;
      /** The same: `opaque`, `transparent` or `auto`. */
      background: string;
      /** `png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it. */
      output_format: string;
      /** What `X-Svc-Adjusted` says of an answer without a stream. */
      adjusted?: readonly (string)[];
      /** The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order. */
      result_issues?: readonly (Schemas["ResultIssue"])[];
      usage: Schemas["ImageUsage"];
    };
    error: Schemas["CompatibleError"];
  };
  "POST /gemini/v1beta/models/{model}:streamGenerateContent": {
    message: Schemas["GeminiGenerateContentResponse"] | Schemas["GeminiError"];
  };
  "POST /gemini/v1beta/interactions": {
    "interaction.created": {
      interaction: {
        /** Id of the task. */
        id: string;
        object: "interaction";
        /** Id of the model. */
        model: string;
        /** How the task stands. */
        status: string;
        /** When the task was accepted. */
        created?: string;
        /** When it ended, or the same. */
        updated?: string;
        /** Why there is nothing, or less than was asked for. */
        errors?: readonly ({
          /** The code that the task has here. */
          code: string;
          /** For people, safe to show. */
          message: string;
        })[];
        usage?: {
          /** Zero where the provider reports none. */
          total_input_tokens: number;
          /** The same. */
          total_output_tokens: number;
          /** Their sum. */
          total_tokens: number;
        };
      };
      event_type: "interaction.created";
    };
    "interaction.status_update": {
      /** Id of the task. */
      interaction_id: string;
      status: "in_progress";
      event_type: "interaction.status_update";
    };
    "step.start": {
      index: 0;
      step: {
        type: "model_output";
      };
      event_type: "step.start";
    };
    "step.delta": {
      index: 0;
      delta: {
        /** What it is. */
        type: "image" | "video" | "audio";
        /** Its media type. */
        mime_type: string;
        /** Read it with the key. */
        uri?: string;
        /** Its content in base64. */
        data?: string;
      };
      event_type: "step.delta";
    };
    "step.stop": {
      index: 0;
      event_type: "step.stop";
    };
    "interaction.completed": {
      interaction: {
        /** Id of the task. */
        id: string;
        object: "interaction";
        /** Id of the model. */
        model: string;
        /** How the task stands. */
        status: string;
        /** When the task was accepted. */
        created?: string;
        /** When it ended, or the same. */
        updated?: string;
        /** Why there is nothing, or less than was asked for. */
        errors?: readonly ({
          /** The code that the task has here. */
          code: string;
          /** For people, safe to show. */
          message: string;
        })[];
        usage?: {
          /** Zero where the provider reports none. */
          total_input_tokens: number;
          /** The same. */
          total_output_tokens: number;
          /** Their sum. */
          total_tokens: number;
        };
      };
      event_type: "interaction.completed";
    };
    error: {
      error: {
        /** The code that the task has here. */
        code: string;
        /** For people, safe to show. */
        message: string;
      };
      event_type: "error";
    };
    done: "[DONE]";
    message: Schemas["GeminiError"];
  };
  "POST /mcp": {
    message: Schemas["McpMessage"];
  };
  "GET /replicate/v1/stream/{prediction}": {
    logs: string;
    output: string;
    error: string;
    done: {
      /** `error` or `canceled`, where it did not succeed. */
      reason?: string;
    };
  };
  "GET /admin/v1/events": {
    pending: Schemas["ManagedTask"];
    processing: Schemas["ManagedTask"];
    completed: Schemas["ManagedTask"];
    failed: Schemas["ManagedTask"];
    cancelled: Schemas["ManagedTask"];
  };
}
