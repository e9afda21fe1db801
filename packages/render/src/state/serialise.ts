/** State as text for the browser. */
/** Text that is inert in a `<script type="application/json">`; `revive` makes the value of it again. */
export declare function serialise(value: unknown): string;
