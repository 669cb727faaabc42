/**
 * What a mini-app finds in its window. Add it to an app's TypeScript project with
 * `/// <reference path="mini-app-sdk.d.ts" />`.
 */

/** Whatever JSON can say, or nothing; or the MCP shape `{content: [{type: "text", text}]}`. */
export type ToolOutput = unknown;

export interface ToolParameters {
  type?: "object";
  properties?: Record<string, ToolProperty>;
  required?: string[];
  additionalProperties?: boolean;
}

/** The admitted subset of JSON Schema; a declaration with any other keyword is refused. */
export interface ToolProperty {
  type: "string" | "number" | "integer" | "boolean" | "array" | "object";
  /** At most 1,024 UTF-16 units. */
  description?: string;
  enum?: unknown[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: { type: "string" | "number" | "integer" | "boolean"; enum?: unknown[] };
  properties?: Record<string, ToolProperty>;
  required?: string[];
  additionalProperties?: boolean;
}

/** Hints of the standard; those that are not named here change nothing. */
export interface ToolAnnotations {
  /** It destroys something: the embedded voice asks "Are you sure?" before each call. */
  destructiveHint?: boolean;
  [hint: string]: unknown;
}

export interface ModelContextTool {
  /** 1 to 64 of a-z A-Z 0-9 _ -; `document.modelContext` also takes dots and 128 characters. */
  name: string;
  title?: string;
  /** What the model reads; 1 to 1,024 UTF-16 units. */
  description: string;
  inputSchema?: ToolParameters;
  /** The same as `inputSchema`. */
  parameters?: ToolParameters;
  annotations?: ToolAnnotations;
  /**
   * Runs the tool. The arguments have been checked. It has 5 seconds; its result may be 64 KiB of
   * JSON. `signal` aborts when the time is up, the call is cancelled or the app closes.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what a tool takes is said by its own schema
  execute(input: any, options: { signal: AbortSignal }): ToolOutput | Promise<ToolOutput>;
}

/** Why a declaration was refused: the rejection of `registerTool`. */
export interface ToolRefused extends TypeError {
  /** A stable code, such as `invalid-tool-parameters`. */
  readonly refused: string;
  /** One sentence. */
  readonly why: string;
}

export interface WebMcp {
  /** Offers a tool to the model; the same name again replaces it. Rejects with ToolRefused. */
  registerTool(tool: ModelContextTool): Promise<void>;
  /** Says that all tools are registered. Optional: a quiet moment says the same. */
  ready(): void;
}

export interface RegisteredTool {
  name: string;
  title: string;
  description: string;
  inputSchema: ToolParameters;
  annotations: Record<string, unknown>;
  origin: string;
}

/** The WebMCP standard. Events: toolchange, toolactivated, toolcancel. */
export interface ModelContext extends EventTarget {
  registerTool(
    tool: ModelContextTool,
    options?: { signal?: AbortSignal; exposedTo?: string[] },
  ): Promise<void>;
  getTools(): Promise<RegisteredTool[]>;
  /** Runs one of this app's own tools; resolves to JSON text. */
  executeTool(
    tool: { name: string },
    input?: object | string,
    options?: { signal?: AbortSignal },
  ): Promise<string>;
  ontoolchange: ((event: Event) => void) | null;
  ontoolactivated: ((event: Event & { toolName: string }) => void) | null;
  ontoolcancel: ((event: Event & { toolName: string }) => void) | null;
  /** @deprecated pass an AbortSignal to registerTool */
  unregisterTool(name: string): void;
  /** @deprecated use registerTool */
  provideContext(context: { tools?: ModelContextTool[] }): Promise<void>;
  /** @deprecated pass an AbortSignal to registerTool */
  clearContext(): void;
}

declare global {
  interface Window {
    readonly webMcp: WebMcp;
  }
  interface Document {
    readonly modelContext: ModelContext;
  }
  interface Navigator {
    /** @deprecated use document.modelContext */
    readonly modelContext: ModelContext;
  }
}
