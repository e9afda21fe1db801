import '../../shop/css/filters.css';

export { default } from '../../shop/filters';
export const settings = { hydration: 'idle' };
