CREATE INDEX `account_low` ON `account` (`id`) WHERE "low_balance_micros" is not null;--> statement-breakpoint
CREATE INDEX `account_retain_outputs` ON `account` (`retain_outputs_sec`) WHERE "retain_outputs_sec" is not null;--> statement-breakpoint
CREATE INDEX `account_retain_inputs` ON `account` (`retain_inputs_sec`) WHERE "retain_inputs_sec" is not null;--> statement-breakpoint
CREATE INDEX `account_retain_callbacks` ON `account` (`retain_callbacks_sec`) WHERE "retain_callbacks_sec" is not null;--> statement-breakpoint
CREATE INDEX `account_retain_tasks` ON `account` (`retain_tasks_sec`) WHERE "retain_tasks_sec" is not null;--> statement-breakpoint
CREATE INDEX `api_key_of_account` ON `api_key` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `api_key_retains` ON `api_key` (`id`) WHERE policy like '%"retainSec"%';--> statement-breakpoint
CREATE INDEX `api_key_named` ON `api_key` (`name`,`revoked_at`,`id`);--> statement-breakpoint
CREATE INDEX `management_token_named` ON `management_token` (`name`,`revoked_at`);