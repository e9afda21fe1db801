import '../../shop/css/base.css';
import '../../shop/css/frame.css';

export { Layout as default } from '../../shop/frame';
export const settings = { rendering: 'static' };
