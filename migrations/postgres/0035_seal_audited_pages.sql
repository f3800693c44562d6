CREATE TABLE "audit_seal" (
	"table_name" text collate "C" NOT NULL,
	"page" bigint NOT NULL,
	"generation" bigint NOT NULL,
	"version" bigint NOT NULL,
	"figures" text collate "C",
	CONSTRAINT "audit_seal_table_name_page_pk" PRIMARY KEY("table_name","page")
);
