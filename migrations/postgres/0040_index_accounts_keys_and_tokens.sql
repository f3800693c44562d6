CREATE INDEX "account_low" ON "account" USING btree ("id") WHERE "low_balance_micros" is not null;--> statement-breakpoint
CREATE INDEX "account_retain_outputs" ON "account" USING btree ("retain_outputs_sec") WHERE "retain_outputs_sec" is not null;--> statement-breakpoint
CREATE INDEX "account_retain_inputs" ON "account" USING btree ("retain_inputs_sec") WHERE "retain_inputs_sec" is not null;--> statement-breakpoint
CREATE INDEX "account_retain_callbacks" ON "account" USING btree ("retain_callbacks_sec") WHERE "retain_callbacks_sec" is not null;--> statement-breakpoint
CREATE INDEX "account_retain_tasks" ON "account" USING btree ("retain_tasks_sec") WHERE "retain_tasks_sec" is not null;--> statement-breakpoint
CREATE INDEX "api_key_of_account" ON "api_key" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "api_key_retains" ON "api_key" USING btree ("id") WHERE policy like '%"retainSec"%';--> statement-breakpoint
CREATE INDEX "api_key_named" ON "api_key" USING btree ("name","revoked_at","id");--> statement-breakpoint
CREATE INDEX "management_token_named" ON "management_token" USING btree ("name","revoked_at");