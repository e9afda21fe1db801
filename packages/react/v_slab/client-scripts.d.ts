export interface ClientScripts {
    /** `$RS=…`: puts a late segment into its place. */
    readonly completeSegment: string;
    /** `$RC=…`: shows a boundary's content. */
    readonly completeBoundary: string;
    /** `$RX=…`, as it stands before other scripts and as it stands before its own call. */
    readonly clientRender: string;
    readonly clientRenderBeforeCall: string;
    /** `$RR=…`: loads stylesheets first. */
    readonly insertStyles: string;
    /** Lets content appear in a view transition; '' where react-dom has none. */
    readonly viewTransitions: string;
    /** What is run when the shell has come. */
    readonly shellTime: string;
}
/** Known once `learnClientScripts` is done. */
export declare function clientScripts(): ClientScripts;
export declare function knowsClientScripts(): boolean;
/** Resolves within the microtasks of this turn; rejects when react-dom's output is not what this renderer knows to read. */
export declare function learnClientScripts(): Promise<void>;
/** The script that keeps what is submitted before the page has come to life. */
export declare function formReplayScript(): string;
